//! Numerics: the three-digit replies that the link and the embedded server use.

macro_rules! numerics {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        $($(#[$doc])* pub const $name: u16 = $number;)*
    };
}

numerics! {
    /// Registration is complete; the first parameter is the nick that the server gave.
    RPL_WELCOME = 1;
    /// The server's name and version.
    RPL_YOURHOST = 2;
    /// When the server was started.
    RPL_CREATED = 3;
    /// The server's modes.
    RPL_MYINFO = 4;
    /// What the server supports: `KEY=value` words.
    RPL_ISUPPORT = 5;
    /// End of STATS.
    RPL_ENDOFSTATS = 219;
    /// The user's own modes.
    RPL_UMODEIS = 221;
    /// STATS: how long the server has been up.
    RPL_STATSUPTIME = 242;
    /// ADMIN begins.
    RPL_ADMINME = 256;
    /// ADMIN: where the server is.
    RPL_ADMINLOC1 = 257;
    /// ADMIN: who runs it.
    RPL_ADMINLOC2 = 258;
    /// ADMIN: how to reach them.
    RPL_ADMINEMAIL = 259;
    /// Somebody is away.
    RPL_AWAY = 301;
    /// Which of the asked nicks are online.
    RPL_ISON = 303;
    /// The away mark is taken back.
    RPL_UNAWAY = 305;
    /// The away mark is set.
    RPL_NOWAWAY = 306;
    /// WHOIS: user, host, real name.
    RPL_WHOISUSER = 311;
    /// WHOIS: the server.
    RPL_WHOISSERVER = 312;
    /// WHOIS: an operator of the server.
    RPL_WHOISOPERATOR = 313;
    /// WHOWAS: user, host, real name.
    RPL_WHOWASUSER = 314;
    /// End of WHO.
    RPL_ENDOFWHO = 315;
    /// WHOIS: idle time.
    RPL_WHOISIDLE = 317;
    /// End of WHOIS.
    RPL_ENDOFWHOIS = 318;
    /// WHOIS: channels.
    RPL_WHOISCHANNELS = 319;
    /// LIST begins.
    RPL_LISTSTART = 321;
    /// One channel of LIST.
    RPL_LIST = 322;
    /// End of LIST.
    RPL_LISTEND = 323;
    /// A channel's modes.
    RPL_CHANNELMODEIS = 324;
    /// When a channel was made.
    RPL_CREATIONTIME = 329;
    /// WHOIS: the account.
    RPL_WHOISACCOUNT = 330;
    /// A channel has no topic.
    RPL_NOTOPIC = 331;
    /// A channel's topic.
    RPL_TOPIC = 332;
    /// Who set the topic, and when.
    RPL_TOPICWHOTIME = 333;
    /// WHOIS: the user is a program.
    RPL_WHOISBOT = 335;
    /// An invitation was sent.
    RPL_INVITING = 341;
    /// The server's version.
    RPL_VERSION = 351;
    /// One user of WHO.
    RPL_WHOREPLY = 352;
    /// Names in a channel.
    RPL_NAMREPLY = 353;
    /// One server of LINKS.
    RPL_LINKS = 364;
    /// End of LINKS.
    RPL_ENDOFLINKS = 365;
    /// End of NAMES.
    RPL_ENDOFNAMES = 366;
    /// One ban of a list.
    RPL_BANLIST = 367;
    /// End of a list of bans.
    RPL_ENDOFBANLIST = 368;
    /// End of WHOWAS.
    RPL_ENDOFWHOWAS = 369;
    /// One line of INFO.
    RPL_INFO = 371;
    /// One line of the message of the day.
    RPL_MOTD = 372;
    /// End of INFO.
    RPL_ENDOFINFO = 374;
    /// The message of the day begins.
    RPL_MOTDSTART = 375;
    /// End of the message of the day.
    RPL_ENDOFMOTD = 376;
    /// The client is an operator of the server now.
    RPL_YOUREOPER = 381;
    /// The server's time.
    RPL_TIME = 391;
    /// A command could not be done; the text says why.
    ERR_UNKNOWNERROR = 400;
    /// No such nick or channel.
    ERR_NOSUCHNICK = 401;
    /// No such server.
    ERR_NOSUCHSERVER = 402;
    /// No such channel.
    ERR_NOSUCHCHANNEL = 403;
    /// Cannot send to the channel.
    ERR_CANNOTSENDTOCHAN = 404;
    /// Too many channels joined.
    ERR_TOOMANYCHANNELS = 405;
    /// Nobody has had that nick.
    ERR_WASNOSUCHNICK = 406;
    /// Too many targets.
    ERR_TOOMANYTARGETS = 407;
    /// An unknown CAP subcommand.
    ERR_INVALIDCAPCMD = 410;
    /// No recipient was given.
    ERR_NORECIPIENT = 411;
    /// No text was given.
    ERR_NOTEXTTOSEND = 412;
    /// The line is too long.
    ERR_INPUTTOOLONG = 417;
    /// Unknown command.
    ERR_UNKNOWNCOMMAND = 421;
    /// There is no message of the day.
    ERR_NOMOTD = 422;
    /// No nick was given.
    ERR_NONICKNAMEGIVEN = 431;
    /// The nick is not legal here.
    ERR_ERRONEUSNICKNAME = 432;
    /// The nick is in use.
    ERR_NICKNAMEINUSE = 433;
    /// The nick is in use elsewhere on the network.
    ERR_NICKCOLLISION = 436;
    /// The nick or channel is not available just now.
    ERR_UNAVAILRESOURCE = 437;
    /// Somebody is not on the channel.
    ERR_USERNOTINCHANNEL = 441;
    /// We are not on the channel.
    ERR_NOTONCHANNEL = 442;
    /// Somebody is on the channel already.
    ERR_USERONCHANNEL = 443;
    /// Not registered yet.
    ERR_NOTREGISTERED = 451;
    /// Too few parameters.
    ERR_NEEDMOREPARAMS = 461;
    /// Registered already.
    ERR_ALREADYREGISTERED = 462;
    /// The password is wrong.
    ERR_PASSWDMISMATCH = 464;
    /// Banned from this server.
    ERR_YOUREBANNEDCREEP = 465;
    /// A key is needed.
    ERR_BADCHANNELKEY = 475;
    /// The channel is full.
    ERR_CHANNELISFULL = 471;
    /// An unknown mode.
    ERR_UNKNOWNMODE = 472;
    /// Only by invitation.
    ERR_INVITEONLYCHAN = 473;
    /// Banned from the channel.
    ERR_BANNEDFROMCHAN = 474;
    /// A channel name that is not legal.
    ERR_BADCHANMASK = 476;
    /// Only for accounts.
    ERR_NEEDREGGEDNICK = 477;
    /// A list of the channel is full.
    ERR_BANLISTFULL = 478;
    /// Too many are joining the channel now.
    ERR_THROTTLE = 480;
    /// Only for operators of the server.
    ERR_NOPRIVILEGES = 481;
    /// Only for operators of the channel.
    ERR_CHANOPRIVSNEEDED = 482;
    /// Nobody becomes an operator of the server that way.
    ERR_NOOPERHOST = 491;
    /// An unknown user mode.
    ERR_UMODEUNKNOWNFLAG = 501;
    /// Another user's modes are not ours.
    ERR_USERSDONTMATCH = 502;
    /// A mode's parameter is not legal.
    ERR_INVALIDMODEPARAM = 696;
    /// A mode is locked as it is.
    ERR_MLOCKRESTRICTED = 742;
    /// Logged in to an account.
    RPL_LOGGEDIN = 900;
    /// Logged out.
    RPL_LOGGEDOUT = 901;
    /// The account is locked.
    ERR_NICKLOCKED = 902;
    /// SASL succeeded.
    RPL_SASLSUCCESS = 903;
    /// SASL failed.
    ERR_SASLFAIL = 904;
    /// The SASL answer is too long.
    ERR_SASLTOOLONG = 905;
    /// SASL was taken back.
    ERR_SASLABORTED = 906;
    /// SASL is done already.
    ERR_SASLALREADY = 907;
    /// The mechanisms that the server has.
    RPL_SASLMECHS = 908;
    /// InspIRCd: the line holds a word that is not wanted there.
    ERR_WORDFILTERED = 936;
}

/// Returns the number as it stands on the wire: three digits.
#[must_use]
pub fn wire(number: u16) -> String {
    format!("{number:03}")
}
