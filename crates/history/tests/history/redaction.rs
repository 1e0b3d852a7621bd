//! Secrets go, commands stay.

use proptest::prelude::*;
use tabsense_history::{MARK, findings, redact};

fn redacted(command: &str) -> String {
    String::from_utf8(redact(command.as_bytes()).into_owned()).expect("text stays text")
}

/// `§` in a template stands for the secret, in the result for the mark.
pub(crate) fn hides(secret: &str, templates: &[&str]) {
    for template in templates {
        let (command, expected) = (template.replace('§', secret), template.replace('§', "***"));
        assert_eq!(redacted(&command), expected, "{command}");
    }
}

pub(crate) fn keeps(commands: &[&str]) {
    for command in commands {
        assert_eq!(redacted(command), *command);
    }
}

#[test]
fn tokens_with_known_prefixes_are_hidden_anywhere() {
    // Joined at run time, so that no scanner takes these samples for real ones.
    let fill = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    let upper = "Q2W3E4R5T6Y7U8I9";
    let samples = [
        ["AKIA", upper].concat(),
        ["ghp_", &fill[..36]].concat(),
        ["github_pat_", &fill[..22], "_", fill].concat(),
        ["glpat-", &fill[..20]].concat(),
        ["xoxb-", "123456789012-", &fill[..24]].concat(),
        ["sk_live_", &fill[..24]].concat(),
        ["sk-", fill].concat(),
        ["sk-ant-", "api03-", fill].concat(),
        ["AIza", &fill[..35]].concat(),
        ["npm_", &fill[..36]].concat(),
        [
            "eyJ",
            "hbGciOiJIUzI1NiJ9",
            ".",
            "eyJzdWIiOiIxIn0",
            ".",
            &fill[..30],
        ]
        .concat(),
        ["hf_", &fill[..34]].concat(),
    ];
    for sample in samples {
        hides(
            &sample,
            &[
                "tool §",
                "curl https://x.io/a?b=§",
                "echo '§' > f",
                "x -H \"X: §\"",
                "§",
            ],
        );
    }
}

#[test]
fn passwords_in_urls_are_hidden() {
    hides(
        "p4ss:w0rd",
        &[
            "git clone https://me:§@git.example.com/a/b.git",
            "psql postgres://app:§@db:5432/prod?sslmode=require",
            "redis-cli -u 'redis://:§@cache:6379/0'",
            "bash -c \"curl ftp://u:§@h/f\"",
        ],
    );
    hides("p@ss", &["wget http://u:§@host/x"]);
    hides("a/b+c", &["psql postgres://u:§@host/db"]);
    hides(
        "T0kenABCdef1234567890xyz",
        &["git clone https://§@host/r.git"],
    );
    keeps(&[
        "git clone ssh://git@github.com:22/a/b.git",
        "curl http://localhost:8080/path@v1",
        "open https://medium.com/@user:x",
        "curl https://me:$PASS@host/ https://u:${P}@h",
        "git clone git@github.com:a/b.git",
        "curl https://x.io/?q=a:b@c",
    ]);
}

#[test]
fn web_hook_addresses_lose_their_key() {
    assert_eq!(
        redacted("curl https://hooks.slack.com/services/T000/B000/abcDEF123"),
        "curl https://hooks.slack.com/services/T000/B000/***"
    );
}

#[test]
fn options_named_after_secrets_lose_their_value() {
    hides(
        "hunter2",
        &[
            "tool --password § x",
            "tool --password=§ x",
            "tool --db-password '§' x",
            "tool --token \"§\"",
            "tool --api-key=§",
            "tool --secret § && echo ok",
            "tool --client-secret §; ls",
            "keytool -storepass § -keypass §",
            "sudo tool --passphrase §",
            "ssh host 'tool --password § x'",
            "X=$(tool --token §) y",
        ],
    );
    hides(
        "two words",
        &["tool --password '§'", "tool --password=\"§\""],
    );
    for hunter in ["%hunter2%", "%Hunter2", "hunter%"] {
        hides(hunter, &["tool --password '§'", "tool --password=§ x"]);
    }
    keeps(&[
        "tool --password %DB_PASSWORD% x",
        "tool --password-file ~/.pw",
        "tool --password $PASS",
        "tool --token=\"$(pass show x)\"",
        "tool --password --verbose",
        "tool --no-password x",
        "docker login --password-stdin registry.io",
        "tool --token=true",
        "docker build --secret id=npm,src=.npmrc .",
        "tool --private-key ~/.ssh/id_ed25519 --token-file /run/t",
        "train --max-token 400 --pad-token x",
        "git commit -m 'document the --password flag'",
        "mkdir -pat x",
    ]);
}

#[test]
fn programs_that_take_a_password_lose_it() {
    hides(
        "s3cr3t",
        &[
            "mysql -u root -p§ shop",
            "mysqldump -p'§' shop > x.sql",
            "docker exec -i db mysql -uroot -p§",
            "sshpass -p § ssh me@host",
            "sshpass -p§ scp a b:",
            "curl -u me:§ https://x.io",
            "curl -ume:§ https://x.io",
            "curl --user 'me:§' https://x.io",
            "docker login -u me -p § registry.io",
            "redis-cli -h h -a § get k",
            "ldapsearch -x -D cn=a -w § -b dc=x",
            "7z a -p§ x.7z dir",
            "zip -P § x.zip f",
            "smbclient //h/s -U me%§",
            "openssl rsa -passin pass:§ -in k",
            "htpasswd -b .htpasswd me §",
            "wpa_passphrase home §",
            "nmcli dev wifi connect home password §",
            "vault login §",
            "aws configure set aws_secret_access_key §",
            "kubectl create secret generic db --from-literal=user=§",
        ],
    );
    keeps(&[
        "mysql -p shop",
        "mkdir -p src/mysql",
        "docker run -p 80:80 nginx",
        "cp -p a b",
        "ssh -p 2222 host",
        "curl -u me https://x.io",
        "curl -U $USER:$PASS https://x.io",
        "mysql -p$MYSQL_PWD shop",
        "grep -w word f",
    ]);
}

#[test]
fn assignments_to_secret_names_lose_their_value() {
    hides(
        "hunter2",
        &[
            "export API_TOKEN=§",
            "PGPASSWORD=§ psql",
            "MYSQL_PWD='§' mysql",
            "docker run -e DB_PASSWORD=§ -e A=b x",
            "env \"SECRET=§\" make",
            "set -gx GITHUB_TOKEN §",
            "set -x API_KEY '§'",
            "setenv X_SECRET §",
            "curl 'https://x.io/?a=1&access_token=§&b=2'",
            "curl -d 'user=me&password=§' https://x.io",
            "java -Dspring.datasource.password=§ -jar x.jar",
            "helm upgrade x --set auth.password=§",
            "sqlcmd -S 'Server=h;Password=§;Database=d'",
            "npm config set //registry.npmjs.org/:_authToken=§",
            "cat > .env <<EOF\nDB_PASSWORD=§\nA=b\nEOF",
            "cat > x.yml <<EOF\npassword: §\nuser: me\nEOF",
            "curl -d '{\"user\":\"me\",\"password\":\"§\"}' x.io",
            "curl -d \"{\\\"token\\\": \\\"§\\\", \\\"a\\\": 1}\" x.io",
        ],
    );
    hides(
        "9f86d081884c7d659a2feaa0c55ad015",
        &["export ENC_KEY=§", "curl 'x.io/?sig=§'"],
    );
    keeps(&[
        "export API_TOKEN=$(pass show api)",
        "TOKEN=\"${CI_TOKEN}\" make",
        "PWD=/srv/app make",
        "TOKEN= make",
        "cd $OLDPWD",
        "sort --key=2 f",
        "export SSH_KEY=~/.ssh/id_rsa",
        "make KEY=value TOKENS=5",
        "author=me make",
        "git log --author=me --pretty=format:%h",
    ]);
}

#[test]
fn headers_with_credentials_lose_them() {
    hides(
        "abc.DEF-123",
        &[
            "curl -H 'Authorization: Bearer §' https://x.io",
            "curl -H \"authorization: token §\" https://x.io",
            "curl --header 'X-Api-Key: §' https://x.io",
            "curl --header='PRIVATE-TOKEN: §' https://x.io",
            "curl -H'Authorization: §' https://x.io",
            "http x.io Authorization:\"Bearer §\"",
            "curl -b x -H 'Cookie: §' x.io",
        ],
    );
    keeps(&[
        "curl -H 'Authorization: Bearer $TOKEN' x.io",
        "curl -H 'Accept: application/json' x.io",
        "git commit -m 'token: handle the end of input'",
        "scp host:password.txt .",
    ]);
}

#[test]
fn text_fed_to_password_readers_is_hidden() {
    hides(
        "me:s3cr3t",
        &[
            "echo '§' | sudo chpasswd",
            "echo § | passwd --stdin me",
            "echo -n § | docker login -u me --password-stdin",
            "printf '%s' § | gh auth login --with-token",
            "passwd --stdin me <<< §",
            "echo § | sudo -S reboot",
        ],
    );
    hides("my pass phrase", &["echo § | cryptsetup open /dev/sdb x -"]);
    keeps(&[
        "echo hello | tee passwd.txt",
        "echo $PASS | sudo -S ls",
        "echo a | sort | uniq",
    ]);
}

#[test]
fn private_keys_lose_their_body() {
    let begin = ["-----BEGIN OPENSSH", " PRIVATE KEY-----"].concat();
    let end = ["-----END OPENSSH", " PRIVATE KEY-----"].concat();
    assert_eq!(
        redacted(&format!("echo '{begin}\nb3BlbnNz\naC1rZXk=\n{end}' > k")),
        format!("echo '{begin}\n***\n{end}' > k")
    );
    assert_eq!(
        redacted(&format!("{begin}\nb3BlbnNz")),
        format!("{begin}\n***")
    );
    keeps(&["grep -----BEGIN CERTIFICATE----- f"]);
}

#[test]
fn a_secret_pasted_alone_is_hidden() {
    hides("kJ8s2Lm9Qx4Vb7Nz1Rt6Yw3H", &["§"]);
}

#[test]
fn ordinary_long_names_stay() {
    keeps(&[
        "git show 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "git rebase -i 9f86d08^",
        "docker pull nginx@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "cat /var/lib/x/6ba7b810-9dad-11d1-80b4-00c04fd430c8/data",
        "id=6ba7b810-9dad-11d1-80b4-00c04fd430c8 make",
        "mount UUID=6ba7b810-9dad-11d1-80b4-00c04fd430c8 /mnt",
        "ls task-sk-learn-example-of-a-long-name",
        "vim src/authentication/token_password_secret.rs",
        "pass show mail/password",
        "kubectl get secret db-password -o yaml",
        "man passwd",
        "systemctl status my-very-long-service-name-2.service",
        "sha256sum VeryLongProgramNameWithVersion2",
        "echo monkey=banana keyboard=de",
    ]);
}

#[test]
fn bytes_that_are_not_text_stay() {
    let command = b"tool --password \xff\xfe \x80 '\xc3";
    assert_eq!(redact(command).as_ref(), b"tool --password *** \x80 '\xc3");
}

#[test]
fn findings_are_ordered_and_apart() {
    let command = b"A_TOKEN=x1 curl -u a:b https://u:p@h/ --password q";
    let found = findings(command);
    assert_eq!(found.len(), 4);
    assert!(
        found
            .windows(2)
            .all(|pair| pair[0].range.end <= pair[1].range.start)
    );
}

fn commands() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&str] = &[
        "mysql ",
        "-p",
        "curl ",
        "-u ",
        "a:",
        "--password",
        "=",
        " ",
        "X_TOKEN=",
        "https://",
        "u:",
        "p@h",
        "/",
        "'",
        "\"",
        "\\",
        "\n",
        "|",
        " passwd ",
        "echo ",
        "$",
        "(",
        ")",
        ";",
        "***",
        "ghp_0123456789abcdefghij",
        "Authorization: ",
        "Bearer ",
        "{\"token\":\"",
        "\"}",
        "set ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "eyJhbGciOiJI.eyJzdWIiOiIx.",
        "@",
        "&",
        "<<< ",
        "pass:",
        "password: ",
        "sk-",
        "q1W2e3R4t5Y6u7I8o9P0aS",
        "key=",
        "vault login ",
        "%",
        "-H",
        "chpasswd <<E\n",
        "\nE\n",
        "set password = ",
        "alter user a ",
        "identified by ",
        "PASSWORD(",
        "RESET_TOKEN=",
        "{{",
        "$(",
        "-su",
        "redis-cli AUTH ",
        "secrets set",
        "fly ",
        "sqlplus ",
        "htpasswd -nb ",
        "aws put-parameter ",
        "--value ",
    ];
    let piece = prop_oneof![
        8 => proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_changes_nothing(command in commands()) {
        let once = redact(&command).into_owned();
        prop_assert_eq!(findings(&once), []);
        prop_assert_eq!(redact(&once).into_owned(), once);
    }

    #[test]
    fn what_is_kept_was_there_before(command in commands()) {
        // Stars of the command beside a mark would blur where it begins.
        let command: Vec<u8> = command.into_iter().filter(|&byte| byte != b'*').collect();
        let once = redact(&command).into_owned();
        let mut rest = command.as_slice();
        let parts: Vec<&[u8]> = split_at_marks(&once);
        for part in parts {
            let at = rest.windows(part.len().max(1)).position(|window| window.starts_with(part));
            prop_assert!(part.is_empty() || at.is_some(), "{:?} is new", part);
            rest = &rest[at.unwrap_or(0) + part.len()..];
        }
    }

    #[test]
    fn a_random_password_is_gone(secret in "[a-zA-Z0-9!%+,.:^~]{8,24}") {
        prop_assume!(!names_a_place(&secret));
        for template in ["mysql -p'§' x", "tool --password '§'", "A_PASSWORD='§' x", "sshpass -p '§' ssh h"] {
            let line = redacted(&template.replace('§', &secret));
            prop_assert!(!line.contains(&secret), "{}", line);
        }
    }
}

/// What says where a secret is: `%VARIABLE%` and the prefixes of tools that read it elsewhere.
fn names_a_place(value: &str) -> bool {
    let is_variable = value.len() > 1
        && value.starts_with('%')
        && value.ends_with('%')
        && !value.contains(|c: char| c.is_ascii_lowercase());
    is_variable
        || ["env:", "file:", "arn:"]
            .iter()
            .any(|place| value.starts_with(place))
}

fn split_at_marks(text: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with(MARK) {
            parts.push(&text[start..at]);
            at += MARK.len();
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(&text[start..]);
    parts
}
