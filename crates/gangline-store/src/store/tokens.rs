//! Tokens of programs outside.

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, tokens},
    types::{NewToken, TokenRow},
};

impl Store {
    /// Keeps a token by its hash.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn add_token(&self, new: NewToken) -> Result<TokenRow, StoreError> {
        self.sqlite.write(&op::ADD_TOKEN, move |w: &mut Writer| tokens::add(w, &new)).await
    }

    /// Revokes a token. Returns it as it was; `None` if there is none of this number.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn revoke_token(&self, id: i64) -> Result<Option<TokenRow>, StoreError> {
        self.sqlite.write(&op::REVOKE_TOKEN, move |w: &mut Writer| tokens::revoke(w, id)).await
    }

    /// Records that a token was used, at most once a minute.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn use_token(&self, id: i64) -> Result<(), StoreError> {
        self.sqlite.write(&op::USE_TOKEN, move |w: &mut Writer| tokens::used(w, id)).await
    }

    /// Returns the token of this hash, revoked or not.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn token(&self, hash: String) -> Result<Option<TokenRow>, StoreError> {
        self.sqlite.read("look for a token", move |c| tokens::of_hash(c, &hash)).await
    }

    /// Returns the tokens, oldest first, at most [`crate::PAGE_MAX`] of them.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        self.sqlite.read("list tokens", tokens::list).await
    }
}
