//! Wire formats from the outside.
<<<<<<< HEAD

mod meter;
=======
#![cfg(test)]

mod translate;
>>>>>>> llm-translate
