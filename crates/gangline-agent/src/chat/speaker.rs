//! Who speaks: an account and its tier. A nick is never proof.

use gangline_core::{Principal, Tier, name::fold};
use gangline_irc::client::Line;

use super::ChatDeps;

impl ChatDeps {
    /// Returns who said the line. On the installation's own server it is what the server
    /// stamped; elsewhere an account is what this installation knows of it.
    pub(super) async fn principal(&self, line: &Line) -> Principal {
        if self.own {
            return line.principal.clone().unwrap_or_else(|| stranger(line));
        }
        if let Some(account) = &line.account {
            let known = self.store.accounts().await.unwrap_or_default();
            let known = known.into_iter().find(|row| row.principal.account == *account);
            if let Some(row) = known {
                return row.principal;
            }
            if !self.trust_nicks {
                return Principal { account: account.clone(), tier: Tier::Stranger };
            }
        }
        if self.trust_nicks {
            // A colleague's nick makes less of its bearer, so it may be believed.
            let colleague = self.everybody.iter().any(|a| a.folded() == fold(&line.nick));
            let tier = if line.bot || colleague { Tier::Agent } else { Tier::Member };
            // Who is logged in is known by that, and an agent by its name: its lines' causes are
            // looked for under it.
            let by_account = line.account.clone().filter(|_| !colleague);
            let account = by_account.unwrap_or_else(|| format!("~{}", line.nick));
            return Principal { account, tier };
        }
        stranger(line)
    }
}

fn stranger(line: &Line) -> Principal {
    Principal { account: format!("~{}", line.nick), tier: Tier::Stranger }
}
