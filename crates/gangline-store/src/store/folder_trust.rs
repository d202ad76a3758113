//! Folders that an owner trusts.

use gangline_core::AgentName;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, folder_trust},
    types::{FolderTrustRow, NewFolderTrust},
};

impl Store {
    /// Records a word about what an agent's folder brings along. The newest word holds.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn trust_folder(&self, new: NewFolderTrust) -> Result<FolderTrustRow, StoreError> {
        self.sqlite.write(&op::TRUST_FOLDER, move |w: &mut Writer| folder_trust::put(w, &new)).await
    }

    /// Returns the word that holds for an agent's folder; `None` if nobody has said one.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn folder_trust(
        &self,
        agent: &AgentName,
        folder: &str,
    ) -> Result<Option<FolderTrustRow>, StoreError> {
        let (agent, folder) = (agent.clone(), folder.to_owned());
        self.sqlite
            .read("look for a trusted folder", move |c| folder_trust::of(c, &agent, &folder))
            .await
    }
}
