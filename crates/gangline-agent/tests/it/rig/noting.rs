//! A backend that notes with which fields of the configuration it was started.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use gangline_os::task::TaskGroup;
use gangline_runtime::{Capabilities, Runtime, RuntimeError, Session, StartOptions};
use serde_json::Value;

use super::Rig;

/// The fields of each start, in order.
pub(crate) type Fields = Arc<Mutex<Vec<BTreeMap<String, Value>>>>;

impl Rig {
    /// From now on the backend's fields are noted.
    pub(crate) fn noted_fields(&mut self) -> Fields {
        Arc::clone(self.fields.insert(Fields::default()))
    }
}

/// Notes the fields, and is the backend behind it in all else.
pub(super) struct Noting {
    pub(super) behind: Box<dyn Runtime>,
    pub(super) fields: Fields,
}

#[async_trait::async_trait]
impl Runtime for Noting {
    fn capabilities(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        self.behind.capabilities(command, extra)
    }

    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        self.fields.lock().unwrap().push(options.extra.clone());
        self.behind.start(options, tasks).await
    }
}
