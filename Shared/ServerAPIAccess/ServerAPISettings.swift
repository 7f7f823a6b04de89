import AppStoreServerAPI
public import Service

/// Where Apple's Server API is, and how much of each app's rate this copy may use.
public struct ServerAPISettings: Sendable, Equatable {
    /// The address of Production.
    public let production: String
    /// The address of the Sandbox.
    public let sandbox: String
    /// Per cent of the rate that Apple allows an app.
    public let percent: Int

    /// Reads the settings `SERVER_API_…`.
    ///
    /// - Parameter percent: the service's usual share of the rate, which all services and copies have together.
    public init(_ reader: inout SettingsReader, percent usual: Int) {
        production = Self.address(
            &reader, "SERVER_API_PRODUCTION", isProduction: true, "Apple's Server API for Production")
        sandbox = Self.address(&reader, "SERVER_API_SANDBOX", isProduction: false, "Apple's Server API for the Sandbox")
        percent = reader.integer(
            "SERVER_API_PERCENT", default: usual, in: 1...100,
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
