import Service

@testable import Gateway

/// A reader over settings of the gateway, named without their prefix.
enum SettingsReaderStub {
    static func reader(_ settings: [String: String]) -> SettingsReader {
        SettingsReader(
            service: GatewayProgram.name,
            environment: Dictionary(uniqueKeysWithValues: settings.map { ("PURSER_GATEWAY_" + $0.key, $0.value) }))
    }
}
