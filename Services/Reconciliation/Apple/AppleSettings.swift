import Reloading
import ServerAPIAccess
import Service

/// How Apple is asked.
struct AppleSettings: Sendable {
    /// The folder of the apps' files; nil: Apple is asked nothing.
    let files: AppsFiles?
    /// A PEM file of roots trusted beside Apple's.
    let rootsFile: String?
    /// Where Apple is, and how much of its rate may be used.
    let serverAPI: ServerAPISettings
    /// Between two passes (ms).
    let interval: Int64
    /// What the passes themselves need to know.
    let pass: ApplePassSettings

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        let folder = reader.optionalText(
            "APPS", meaning: "the folder of apps/<id>.yaml and their keys; without it Apple is asked nothing")
        let reload = ReloadSetting.read(&reader)
        files = folder.map { AppsFiles(folder: $0, reloadInterval: reload) }
        rootsFile = reader.optionalText(
            "ROOTS",
            meaning: "a PEM file of roots to trust beside Apple's: the App Store simulator's; never in production")
        // Intake answers with 10; what is left are further copies, and support.
        serverAPI = ServerAPISettings(&reader, percent: 30)
        interval =
            1_000
            * Int64(
                reader.integer(
                    "APPLE_INTERVAL_SECONDS", default: 900, in: 1...86_400,
                    meaning: "seconds between two comparisons with what Apple tells"))
        let delay = reader.integer(
            "APPLE_DELAY_SECONDS", default: 120, in: 1...86_400,
            meaning: "seconds after which what Apple has told must have come in")
        let days = reader.integer(
            "APPLE_FIRST_DAYS", default: 30, in: 1...180,
            meaning: "days that the first comparison looks back (in the Sandbox Apple keeps 30)")
        let calls = reader.integer(
            "APPLE_CALLS", default: 500, in: 1...100_000,
            meaning: "calls of one comparison at most, for each app and environment; the rest follows in the next")
        let refundDays = reader.integer(
            "APPLE_REFUND_DAYS", default: 90, in: 0...3_650,
            meaning: "days after a purchase in which Apple is asked what was refunded to its buyer; 0 = never")
        let pause = reader.integer(
            "APPLE_ACCOUNT_SECONDS", default: 21_600, in: 1...2_592_000,
            meaning: "seconds at least between two questions about one buyer")
        pass = ApplePassSettings(
            delay: 1_000 * Int64(delay), firstDays: Int64(days), calls: calls, refundDays: Int64(refundDays),
            accountPause: 1_000 * Int64(pause), patience: .milliseconds(interval / 2))
    }
}

/// What a pass needs to know.
struct ApplePassSettings: Sendable {
    /// What is younger may still be on its way (ms).
    var delay: Int64 = 120_000
    /// Days the first pass looks back.
    var firstDays: Int64 = 30
    /// Calls at most, for each place.
    var calls = 500
    /// Days after a purchase in which its buyer's refunds are asked for; 0: never.
    var refundDays: Int64 = 90
    /// Between two questions about one buyer (ms).
    var accountPause: Int64 = 21_600_000
    /// How long a pass may ask about buyers, all places together: the next one must not be late.
    var patience = Duration.seconds(450)
}
