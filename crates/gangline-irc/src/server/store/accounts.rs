//! Accounts, by their names and by the nicks that were last used under them.

use std::collections::HashMap;

use gangline_core::{Nick, Tier, name::fold};

/// A registered account; its name is a reserved nick.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// The name, which is also its nick.
    pub name: Nick,
    /// Agent or owner, or a member with a password.
    pub tier: Tier,
    /// SHA-256 of the credential, in lower-case hexadecimal.
    pub credential_sha256: String,
    /// The nick that was last used under this account (folded), so that a private answer finds
    /// its way while nobody is logged in.
    pub last_nick: Option<String>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("name", &self.name.as_str())
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

/// All accounts, as last committed.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    by_name: HashMap<String, Account>,
    by_last_nick: HashMap<String, String>,
}

impl Accounts {
    /// Returns the account of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Account> {
        self.by_name.get(&fold(name))
    }

    /// Returns the account whose last nick this was.
    #[must_use]
    pub fn by_last_nick(&self, nick: &Nick) -> Option<&Account> {
        self.by_name.get(self.by_last_nick.get(nick.folded())?)
    }

    /// Puts an account in place of any of its name.
    pub fn put(&mut self, account: Account) {
        let key = account.name.folded().to_owned();
        self.by_last_nick.retain(|_, name| *name != key);
        if let Some(nick) = &account.last_nick {
            self.by_last_nick.insert(nick.clone(), key.clone());
        }
        self.by_name.insert(key, account);
    }

    /// Returns every account, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.by_name.values()
    }
}
