//! LUSERS.

use crate::server::{
    client_id::ClientId,
    reply::{
        RPL_GLOBALUSERS, RPL_LOCALUSERS, RPL_LUSERCHANNELS, RPL_LUSERCLIENT, RPL_LUSERME,
        RPL_LUSEROP, RPL_LUSERUNKNOWN,
    },
    state::State,
};

/// Says how many are here.
pub(crate) fn run(state: &mut State, id: ClientId) {
    let (users, all) = (state.nicks.len(), state.clients.len());
    let (channels, peak) = (state.channels.len().to_string(), state.peak.to_string());
    let unknown = all.saturating_sub(users).to_string();
    let all = format!("There are {users} users and 0 invisible on 1 servers");
    let mine = format!("I have {users} clients and 0 servers");
    let now = users.to_string();
    state.numeric(id, RPL_LUSERCLIENT, &[], &all);
    let operators = state.operators().to_string();
    state.numeric(id, RPL_LUSEROP, &[&operators], "operator(s) online");
    state.numeric(id, RPL_LUSERUNKNOWN, &[&unknown], "unknown connection(s)");
    state.numeric(id, RPL_LUSERCHANNELS, &[&channels], "channels formed");
    state.numeric(id, RPL_LUSERME, &[], &mine);
    state.numeric(id, RPL_LOCALUSERS, &[&now, &peak], "Current local users");
    state.numeric(id, RPL_GLOBALUSERS, &[&now, &peak], "Current global users");
}
