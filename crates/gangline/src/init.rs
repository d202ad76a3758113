//! What `gangline init` is made of: the programs it finds, the configuration it writes, the
//! repository around it.
//!
//! [`programs`] looks, [`text`] writes without touching anything, [`repository`] calls git.
//! Everything that is started is bounded in time and output by `versions::ask`.

pub(crate) mod file;
pub(crate) mod name;
pub(crate) mod programs;
pub(crate) mod repository;
pub(crate) mod text;
