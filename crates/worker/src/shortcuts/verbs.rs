//! Deeds that a phrase names, and shortcuts that do another one.
//!
//! The model knows what things go together; that "unzip" is the opposite of "zip", or that nothing here
//! wipes a disk, it knows less well. A shortcut none of whose texts names the deed of the phrase is no
//! answer to it.

use tabsense_shortcuts::{Risk, Shortcut};

/// Words for one deed, or their starts.
struct Deed {
    /// The words; of languages without blanks, parts of words.
    verbs: &'static str,
    /// Things one of which must be named as well; empty when the words are enough.
    things: &'static str,
    /// Which shortcuts are looked at: all of them, or those that may lose something.
    from: Risk,
}

const DEEDS: [Deed; 7] = [
    Deed {
        verbs: "uninstall deinstallier désinstall desinstal 卸载 アンインストール",
        things: "",
        from: Risk::Read,
    },
    Deed {
        verbs: "unzip unpack untar decompress entpack entzip décompress dézip descomprim 解压 解凍",
        things: "",
        from: Risk::Read,
    },
    Deed {
        verbs: "wipe erase format repartition formatier formate formatea lösche efface borra 格式化 \
                抹掉 擦除 フォーマット",
        things: "disk disks drive ssd hdd partition festplatte laufwerk disque disco \
                 usb stick speicherstick 磁盘 硬盘 u盘 ディスク",
        from: Risk::Read,
    },
    Deed {
        verbs: "rename umbenenn benenn renomm renombr 重命名 改名 名前を変 名前変更",
        things: "",
        from: Risk::Write,
    },
    Deed {
        verbs: "restart reboot neustart redémarr reinici 重启 重新启动 再起動",
        things: "",
        from: Risk::Write,
    },
    Deed {
        verbs: "shutdown poweroff herunterfahr 关机 シャットダウン",
        things: "",
        from: Risk::Write,
    },
    Deed {
        verbs: "kill töte",
        things: "everything alles",
        from: Risk::Destructive,
    },
];

impl Deed {
    fn is_in(&self, lower: &str) -> bool {
        let is_said = |list: &str| {
            let mut list = list.split_ascii_whitespace();
            list.any(|start| starts(lower, start))
        };
        is_said(self.verbs) && (self.things.is_empty() || is_said(self.things))
    }
}

/// Whether a word of the text starts so; anywhere where words are not parted.
fn starts(text: &str, start: &str) -> bool {
    let is_wide = start.chars().all(|c| c > '\u{2e7f}');
    text.match_indices(start).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        is_wide || before.is_none_or(|c| !c.is_alphanumeric())
    })
}

/// The deeds that a phrase names.
pub(super) struct Verbs(Vec<&'static Deed>);

impl Verbs {
    /// Those of a phrase in lower case.
    pub(super) fn of(lower: &str) -> Self {
        // Some are two words.
        let joined = lower
            .replace("shut down", "shutdown")
            .replace("power off", "poweroff");
        let named = DEEDS.iter().filter(|deed| deed.is_in(&joined));
        Self(named.collect())
    }

    /// Whether a shortcut names none of them.
    pub(super) fn are_others(&self, shortcut: &Shortcut) -> bool {
        let wanted = self.0.iter().filter(|deed| shortcut.risk >= deed.from);
        let mut wanted = wanted.peekable();
        if wanted.peek().is_none() {
            return false;
        }
        let texts = shortcut.title.0.iter().chain(&shortcut.description.0);
        let told: Vec<Self> = texts
            .chain(&shortcut.examples)
            .map(|text| Self::of(&text.text.to_lowercase()))
            .collect();
        let names = |deed: &Deed, told: &Self| told.0.iter().any(|o| std::ptr::eq(*o, deed));
        !wanted.any(|deed| told.iter().any(|told| names(deed, told)))
    }
}

#[cfg(test)]
mod tests {
    use tabsense_shortcuts::builtin;

    use super::*;

    fn are_others(phrase: &str, id: &str) -> bool {
        let shortcut = builtin().iter().find(|known| known.id == id).expect(id);
        Verbs::of(phrase).are_others(shortcut)
    }

    #[test]
    fn a_shortcut_that_names_another_deed_is_no_answer() {
        for (phrase, id) in [
            ("unzip archive.zip into build", "compress_folder"),
            ("uninstall docker", "docker_cleanup"),
            ("wipe the disk", "eject_disk"),
            ("wipe the disk", "docker_cleanup"),
            ("format the disk sdb", "csv_as_table"),
            ("格式化硬盘", "list_disks"),
            ("restart in 10 minutes", "set_timer"),
            ("shut down in 10 minutes", "set_timer"),
            ("kill everything", "shutdown"),
            ("format the usb stick", "eject_disk"),
            ("benenne a.txt in b.txt um", "join_files"),
        ] {
            assert!(are_others(phrase, id), "{phrase}: {id}");
        }
        for (phrase, id) in [
            ("unzip archive.zip", "extract_archive"),
            ("uninstall docker", "package_remove"),
            ("désinstalle docker", "package_remove"),
            ("format the code", "format_code"),
            ("restart the computer", "restart"),
            ("restart nginx", "service_restart"),
            ("how long since the last restart", "show_uptime"),
            ("shut down", "shutdown"),
            ("kill the power", "shutdown"),
            ("compress src", "compress_folder"),
            ("benenne a.txt in b.txt um", "rename_file"),
            ("rename all jpeg files to jpg", "batch_rename_extension"),
        ] {
            assert!(!are_others(phrase, id), "{phrase}: {id}");
        }
    }
}
