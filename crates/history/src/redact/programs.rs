//! Programs that take a password as an argument or from their input.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::names::Name;

/// Whether a flag's value is its own word, joined to it, or either.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Joined,
    Apart,
    Both,
}

/// What the value of a flag is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Secret,
    /// A secret when it looks like one.
    Maybe,
    /// A secret unless it is `NAME=value`.
    Bare,
    /// `user:SECRET`, with this byte between them.
    After(u8),
    /// `user:SECRET@host`, with these bytes around it; the last may be missing.
    Between(u8, u8),
}

/// Programs, a word that must be there too (or none), flag, form, value.
pub(super) type Flag = (
    &'static [&'static str],
    &'static str,
    &'static str,
    Form,
    Value,
);

const MYSQL: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlshow",
    "mysqlcheck",
    "mysqlsh",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
    "mycli",
];
const LOGIN: &[&str] = &[
    "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "az", "oc", "cf", "crane",
];
const MONGO: &[&str] = &[
    "mongo",
    "mongosh",
    "mongodump",
    "mongorestore",
    "mongoexport",
    "mongoimport",
    "cqlsh",
    "evil-winrm",
    "nxc",
    "netexec",
    "crackmapexec",
    "twine",
    "sshpass",
];
const LDAP: &[&str] = &[
    "ldapsearch",
    "ldapadd",
    "ldapmodify",
    "ldapwhoami",
    "ldappasswd",
    "ldapdelete",
    "security",
];
const HTTPIE: &[&str] = &["http", "https", "xh", "xhs"];
const SEVEN: &[&str] = &["7z", "7za", "7zz", "7zr", "rar", "unrar"];

const COPIERS: &[&str] = &["skopeo", "podman", "buildah"];
const UPPER_P: &[&str] = &["sqlcmd", "mosquitto_pub", "mosquitto_sub", "ipmitool"];

pub(super) const FLAGS: [Flag; 36] = [
    (MYSQL, "", "-p", Form::Joined, Value::Secret),
    (LOGIN, "login", "-p", Form::Both, Value::Secret),
    (MONGO, "", "-p", Form::Both, Value::Secret),
    (LDAP, "", "-w", Form::Both, Value::Secret),
    (&["redis-cli"], "", "-a", Form::Both, Value::Secret),
    (&["curl"], "", "-u", Form::Both, Value::After(b':')),
    (&["curl"], "", "--user", Form::Both, Value::After(b':')),
    (&["curl"], "", "-U", Form::Both, Value::After(b':')),
    (
        &["curl"],
        "",
        "--proxy-user",
        Form::Both,
        Value::After(b':'),
    ),
    (HTTPIE, "", "-a", Form::Both, Value::After(b':')),
    (HTTPIE, "", "--auth", Form::Both, Value::After(b':')),
    (&["lftp"], "", "-u", Form::Both, Value::After(b',')),
    (
        &["smbclient", "rpcclient", "net"],
        "",
        "-U",
        Form::Both,
        Value::After(b'%'),
    ),
    (SEVEN, "", "-p", Form::Joined, Value::Secret),
    (SEVEN, "", "-hp", Form::Joined, Value::Secret),
    (&["zip"], "", "-P", Form::Both, Value::Secret),
    (&["unzip"], "", "-P", Form::Both, Value::Secret),
    (UPPER_P, "", "-P", Form::Both, Value::Secret),
    (
        &["xfreerdp", "xfreerdp3", "rdesktop"],
        "",
        "-p",
        Form::Apart,
        Value::Secret,
    ),
    (
        &["xfreerdp", "xfreerdp3"],
        "",
        "/p:",
        Form::Joined,
        Value::Secret,
    ),
    (&["openssl"], "", "-k", Form::Apart, Value::Secret),
    (&["openssl"], "", "-K", Form::Apart, Value::Secret),
    (
        &["useradd", "usermod"],
        "",
        "-p",
        Form::Apart,
        Value::Secret,
    ),
    (&["gh", "glab"], "secret", "-b", Form::Both, Value::Secret),
    (COPIERS, "", "--creds", Form::Both, Value::After(b':')),
    (COPIERS, "", "--src-creds", Form::Both, Value::After(b':')),
    (COPIERS, "", "--dest-creds", Form::Both, Value::After(b':')),
    (&["gh"], "secret", "--body", Form::Both, Value::Secret),
    (&["az"], "keyvault", "--value", Form::Both, Value::Secret),
    (&["aws"], "", "--secret-string", Form::Both, Value::Secret),
    (&["ssh-keygen"], "", "-N", Form::Both, Value::Secret),
    (&["ssh-keygen"], "", "-P", Form::Both, Value::Secret),
    (&["glab"], "login", "-t", Form::Both, Value::Secret),
    (&["doctl"], "auth", "-t", Form::Both, Value::Secret),
    (&["poetry"], "publish", "-p", Form::Both, Value::Secret),
    // Names a key of the user's own file, unless somebody takes it for the key.
    (&["gem"], "push", "-k", Form::Both, Value::Maybe),
];

/// Letters that may stand before a flag in the same word, `curl -su me:SECRET`: switches of this
/// program, none of which takes a value.
pub(super) const SWITCHES: [(&str, &str); 5] = [
    ("mysql", "AbBCEfgGHiINnqrsStvVwWX"),
    ("curl", "#01234689aBfgGiIjJklLMnNOpqRsSvVZ"),
    ("zip", "0123456789@AcDeFfgjJklmoqrSTuvXyz"),
    ("unzip", "aCfjKlLMnopqtuvVXzZ:"),
    ("ssh-keygen", "BceHiklLpqvy"),
];

/// Which of a command's words are meant, options and their values left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// This one, from 0.
    Nth(usize),
    /// The last one, when at least so many are there.
    Last(usize),
    /// The first one that has the form of the value.
    Fitting,
}

/// A secret that is known by its place among the words after a program or its command.
pub(super) struct Place {
    pub(super) programs: &'static [&'static str],
    /// The word after which counting starts; none for the program itself. A dash and a letter mean
    /// a switch that must be there, also joined to others.
    pub(super) after: &'static str,
    pub(super) which: Which,
    /// Options whose value is the word after them.
    pub(super) valued: &'static [&'static str],
    pub(super) value: Value,
}

const fn place(
    programs: &'static [&'static str],
    after: &'static str,
    which: Which,
    valued: &'static [&'static str],
) -> Place {
    Place {
        programs,
        after,
        which,
        valued,
        value: Value::Secret,
    }
}

const SQLPLUS: &[&str] = &["sqlplus", "sqlldr", "sqlcl", "rman", "expdp", "impdp"];
const IMPACKET: &[&str] = &[
    "psexec.py",
    "wmiexec.py",
    "smbexec.py",
    "atexec.py",
    "dcomexec.py",
    "secretsdump.py",
    "smbclient.py",
    "mssqlclient.py",
    "lookupsid.py",
    "getTGT.py",
    "getST.py",
    "GetUserSPNs.py",
    "GetNPUsers.py",
    "GetADUsers.py",
    "impacket-psexec",
    "impacket-wmiexec",
    "impacket-smbexec",
    "impacket-secretsdump",
    "impacket-smbclient",
    "impacket-mssqlclient",
    "impacket-GetUserSPNs",
];
const BW: &[&str] = &[
    "--passwordenv",
    "--passwordfile",
    "--session",
    "--method",
    "--code",
];
const REDIS: &[&str] = &["redis-cli", "valkey-cli"];
const MC: &[&str] = &["mc", "mcli"];

pub(super) const PLACES: [Place; 19] = [
    place(&["htpasswd"], "-b", Which::Last(2), &["-C"]),
    place(&["wpa_passphrase"], "", Which::Nth(1), &[]),
    place(&["rabbitmqctl"], "add_user", Which::Nth(1), &[]),
    place(&["rabbitmqctl"], "change_password", Which::Nth(1), &[]),
    place(&["rclone"], "obscure", Which::Nth(0), &[]),
    place(
        &["openssl"],
        "passwd",
        Which::Nth(0),
        &["-in", "-salt", "-rand", "-writerand"],
    ),
    place(&["bw"], "unlock", Which::Nth(0), BW),
    place(&["bw"], "login", Which::Nth(1), BW),
    place(&["cargo"], "login", Which::Nth(0), &["--registry", "-Z"]),
    place(REDIS, "AUTH", Which::Last(1), &[]),
    place(REDIS, "auth", Which::Last(1), &[]),
    place(REDIS, "requirepass", Which::Nth(0), &[]),
    // `mc alias set NAME ADDRESS ACCESS SECRET`, before that `mc config host add`.
    place(MC, "alias", Which::Nth(4), &["--api", "--path"]),
    place(MC, "host", Which::Nth(4), &["--api", "--lookup"]),
    place(&["glab"], "set-token", Which::Nth(0), &[]),
    place(&["snyk"], "auth", Which::Nth(0), &[]),
    Place {
        value: Value::Bare,
        ..place(&["vault"], "login", Which::Nth(0), &["-method", "-path"])
    },
    Place {
        value: Value::Between(b'/', b'@'),
        ..place(SQLPLUS, "", Which::Fitting, &["-C", "-M", "-R"])
    },
    Place {
        value: Value::Between(b':', b'@'),
        ..place(
            IMPACKET,
            "",
            Which::Fitting,
            &["-hashes", "-aesKey", "-dc-ip", "-target-ip", "-port"],
        )
    },
];

/// Programs that keep secrets given as `NAME=value`, words one of which must be there too, what
/// the values are.
pub(super) const STORES: [(&[&str], &[&str], Name); 3] = [
    (&["vault"], &["put", "write", "patch"], Name::Secret),
    (
        &["fly", "flyctl", "doppler", "infisical", "supabase"],
        &["secrets"],
        Name::Secret,
    ),
    (&["heroku", "eb"], &["config:set", "setenv"], Name::Maybe),
];

/// Programs that read the file in `NAME=@file`, with any option.
pub(super) const FILE_READERS: [&str; 7] =
    ["http", "https", "xh", "xhs", "vault", "az", "ibmcloud"];
/// Programs that do with one of [`FORM_OPTIONS`].
pub(super) const FORM_READERS: [&str; 3] = ["curl", "gh", "glab"];
pub(super) const FORM_OPTIONS: [&str; 4] = ["-F", "--form", "--field", "--data-urlencode"];

/// Programs whose messages are prose.
pub(super) const WRITERS: [&str; 6] = ["git", "gh", "glab", "hg", "svn", "jj"];

/// Programs that ask for the user's own password.
pub(super) const RAISERS: [&str; 2] = ["sudo", "doas"];

/// Programs that read a password from their input.
pub(super) const READERS: [&str; 7] = [
    "passwd",
    "chpasswd",
    "smbpasswd",
    "kinit",
    "vncpasswd",
    "cryptsetup",
    SU,
];
/// Reads commands from a here-document, and the password only from the terminal then.
pub(super) const SU: &str = "su";
pub(super) const READER_OPTIONS: [&[u8]; 6] = [
    b"--password-stdin",
    b"--with-token",
    b"--passphrase-fd",
    b"-passin",
    b"--passwd-on-stdin",
    b"--token-stdin",
];

/// All programs of these tables.
static KNOWN: LazyLock<HashSet<&'static [u8]>> = LazyLock::new(|| {
    let flags = FLAGS.iter().flat_map(|flag| flag.0);
    let places = PLACES.iter().flat_map(|place| place.programs);
    let stores = STORES.iter().flat_map(|store| store.0);
    let others: [&'static [&'static str]; 5] =
        [&FILE_READERS, &FORM_READERS, &WRITERS, &RAISERS, &READERS];
    flags
        .chain(places)
        .chain(stores)
        .chain(others.into_iter().flatten())
        .map(|name| name.as_bytes())
        .collect()
});

/// The name as these tables have it, when they do.
pub(super) fn known(name: &[u8]) -> Option<&'static [u8]> {
    KNOWN.get(name).copied()
}
