import AppStoreServerAPI
import Service

/// Where Apple's Server API is, and how much of each app's rate this copy may use.
struct ServerAPISettings: Sendable, Equatable {
    /// The address of Production.
    let production: String
    /// The address of the Sandbox.
    let sandbox: String
    /// Per cent of the rate that Apple allows an app.
    let percent: Int

    /// Reads the settings.
    init(_ reader: inout SettingsReader) {
        production = Self.address(
            &reader, "SERVER_API_PRODUCTION", isProduction: true, "Apple's Server API for Production")
        sandbox = Self.address(&reader, "SERVER_API_SANDBOX", isProduction: false, "Apple's Server API for the Sandbox")
        percent = reader.integer(
            // Reconciliation and support share the rate, and there may be a few copies; 5 a second are plenty for refunds.
            "SERVER_API_PERCENT", default: 10, in: 1...100,
            meaning: "per cent of Apple's rate for an app that this copy may use; all copies and services share 100")
    }

    private static func address(
        _ reader: inout SettingsReader, _ name: String, isProduction: Bool, _ meaning: String
    ) -> String {
        let text = reader.text(
            name, default: AppStoreServerAPI.Configuration.address(isProduction: isProduction), meaning: meaning)
        if !text.hasPrefix("https://"), !text.hasPrefix("http://127.0.0.1:") {
            reader.problem(name, "must be an https address, or the simulator's on 127.0.0.1")
        }
        return text
    }
}
