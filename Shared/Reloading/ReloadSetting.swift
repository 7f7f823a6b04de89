public import Service

/// The setting `APPS_RELOAD_SECONDS` of every service that reads the apps' files.
public enum ReloadSetting {
    /// How often the files are looked at; nil: never.
    public static func read(_ reader: inout SettingsReader) -> Duration? {
        // Short enough for a key that must no longer be believed; a look costs some system calls.
        let seconds = reader.integer(
            "APPS_RELOAD_SECONDS", default: 5, in: 0...3_600,
            meaning: "how often the apps' files and keys are looked at for changes; 0 = never")
        return seconds == 0 ? nil : .seconds(seconds)
    }
}
