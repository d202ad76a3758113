//! The adapters against the stand-in model, over real HTTP.

mod native;
