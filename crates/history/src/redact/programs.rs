//! Programs that take a password as an argument or from their input.

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
    /// `user:SECRET`, with this byte between them.
    After(u8),
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

pub(super) const FLAGS: [Flag; 22] = [
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
    (
        &[
            "zip",
            "unzip",
            "sqlcmd",
            "mosquitto_pub",
            "mosquitto_sub",
            "ipmitool",
        ],
        "",
        "-P",
        Form::Both,
        Value::Secret,
    ),
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
];

/// Programs whose last word is a password when all these words are there too.
pub(super) const LAST_WORD: [(&str, &str); 9] = [
    ("htpasswd", "-b"),
    ("htpasswd", "-nb"),
    ("htpasswd", "-bc"),
    ("htpasswd", "-cb"),
    ("wpa_passphrase", ""),
    ("rabbitmqctl", "add_user"),
    ("rabbitmqctl", "change_password"),
    ("vault", "login"),
    ("rclone", "obscure"),
];

/// Programs that read a password from their input.
pub(super) const READERS: [&str; 7] = [
    "passwd",
    "chpasswd",
    "smbpasswd",
    "kinit",
    "vncpasswd",
    "cryptsetup",
    "su",
];
pub(super) const READER_OPTIONS: [&[u8]; 4] = [
    b"--password-stdin",
    b"--with-token",
    b"--passphrase-fd",
    b"-passin",
];
