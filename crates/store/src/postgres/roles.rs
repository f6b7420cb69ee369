//! The two roles under which Godel works, and row-level security as the second belt.
//!
//! - `godel_app` sees the rows of the tenant that is set in the transaction; without one, every
//!   access fails.
//! - `godel_system` sees all rows. Only the server's own work uses it: whose key is this, what is
//!   to be trimmed.

use postgres::Client;

use crate::{Error, Result};

const REMEDY: &str = "let an administrator run once: CREATE ROLE godel_app NOLOGIN; \
     CREATE ROLE godel_system NOLOGIN; GRANT godel_app, godel_system TO <the user of the address>;";

/// Makes the roles unless they are there, and lets the connected user take them.
pub(super) fn ensure(client: &mut Client) -> Result<()> {
    // Roles belong to the whole server: another database of it may be making them right now.
    let made = client.batch_execute(
        "DO $$
         DECLARE name text;
         BEGIN
             FOREACH name IN ARRAY ARRAY['godel_app', 'godel_system'] LOOP
                 IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
                     BEGIN
                         EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', name);
                     EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                     END;
                 END IF;
                 -- Since version 16 the maker of a role is a member who may not take it, so the
                 -- grant is repeated. A superuser may take any role.
                 IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
                     BEGIN
                         EXECUTE format('GRANT %I TO CURRENT_USER', name);
                     EXCEPTION
                         WHEN insufficient_privilege THEN
                             IF NOT pg_has_role(current_user, name, 'MEMBER') THEN RAISE; END IF;
                         WHEN internal_error OR unique_violation THEN NULL;
                     END;
                 END IF;
             END LOOP;
         END $$;",
    );
    made.map_err(|cause| match cause.code() {
        Some(&postgres::error::SqlState::INSUFFICIENT_PRIVILEGE) => Error::Privilege {
            what: "create the roles godel_app and godel_system".to_owned(),
            remedy: REMEDY.to_owned(),
        },
        _ => Error::postgres("roles", cause),
    })?;
    refuse_bypass(client)
}

/// A role that bypasses row-level security would make the second belt a decoration.
fn refuse_bypass(client: &mut Client) -> Result<()> {
    let row = client
        .query_one(
            "SELECT count(*) FROM pg_roles WHERE rolname IN ('godel_app', 'godel_system')
             AND (rolbypassrls OR rolsuper)",
            &[],
        )
        .map_err(|cause| Error::postgres("roles_check", cause))?;
    if row.get::<_, i64>(0) == 0 {
        return Ok(());
    }
    Err(Error::Privilege {
        what: "rely on row-level security, which godel_app or godel_system bypasses".to_owned(),
        remedy: "let an administrator run once: ALTER ROLE godel_app NOSUPERUSER NOBYPASSRLS; \
                 ALTER ROLE godel_system NOSUPERUSER NOBYPASSRLS;"
            .to_owned(),
    })
}

/// Secures every table that has a `tenant` column, so that none can be forgotten.
///
/// The sub-select makes PostgreSQL read the setting once a statement. There is no `missing_ok`: an
/// unset tenant is an error, not an empty result.
pub(super) const SECURE_TABLES: &str = "
    DO $$
    DECLARE name text;
    BEGIN
        FOR name IN
            SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
              AND a.attname = 'tenant' AND NOT a.attisdropped AND NOT c.relforcerowsecurity
        LOOP
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
            EXECUTE format(
                'CREATE POLICY own_tenant ON %I TO godel_app
                 USING (tenant = (SELECT current_setting(''app.tenant'')::uuid))
                 WITH CHECK (tenant = (SELECT current_setting(''app.tenant'')::uuid))', name);
            EXECUTE format(
                'CREATE POLICY whole_system ON %I TO godel_system USING (true) WITH CHECK (true)',
                name);
            EXECUTE format(
                'GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO godel_app, godel_system', name);
        END LOOP;
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO godel_app, godel_system', current_schema());
    END $$;";
