//! Letters: the owners' inbox.

use gangline_core::MessageId;

use super::Store;
use crate::{
    error::{LetterError, StoreError},
    op,
    sqlite::{Writer, letters},
    types::{LetterFilter, LetterRow, NewLetter, NewMessage},
};

impl Store {
    /// Sends a letter and returns its number. The same key again is the same letter.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn send_letter(&self, new: NewLetter) -> Result<i64, StoreError> {
        self.sqlite
            .write(&op::SEND_LETTER, move |w: &mut Writer| letters::send(w, &new, None))
            .await
    }

    /// Records that these letters were read.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn read_letters(&self, ids: Vec<i64>) -> Result<(), StoreError> {
        self.sqlite.write(&op::READ_LETTERS, move |w: &mut Writer| letters::read(w, &ids)).await
    }

    /// Answers a letter: the answer is a message to its sender, in the same commit. Without an answer
    /// the letter is put away. Returns the letter as it was, and the message.
    ///
    /// # Errors
    /// See [`LetterError`]; nothing is stored then.
    pub async fn settle_letter(
        &self,
        id: i64,
        by: String,
        answer: Option<NewMessage>,
    ) -> Result<(LetterRow, Option<MessageId>), LetterError> {
        let work = move |w: &mut Writer| letters::settle(w, (id, &by), answer.as_ref());
        self.sqlite.write(&op::SETTLE_LETTER, work).await?
    }

    /// Returns one letter.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn letter(&self, id: i64) -> Result<Option<LetterRow>, StoreError> {
        self.sqlite.read("read a letter", move |c| letters::one(c, id)).await
    }

    /// Returns letters, oldest first, at most `limit` (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn letters(
        &self,
        filter: LetterFilter,
        limit: u32,
    ) -> Result<Vec<LetterRow>, StoreError> {
        self.sqlite.read("list letters", move |c| letters::list(c, &filter, limit)).await
    }
}
