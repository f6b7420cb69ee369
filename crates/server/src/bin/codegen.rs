//! Writes the files that are generated from the code: run by `cargo xtask codegen`.

fn main() -> std::io::Result<()> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::fs::write(format!("{root}/openapi.json"), godel_server::openapi_json())
}
