import FoundationEssentials
import Service

@testable import Gateway

/// A folder of apps with the keys of `TestTokens`, removed at the end of its life.
final class AppFolder {
    let path: String

    init() throws {
        path = "/tmp/purser-gateway-apps-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path + "/keys", withIntermediateDirectories: true)
        for kind in TokenKind.allCases {
            try write("keys/\(kind.rawValue)", TestTokens.secret("clouds", kind), mode: 0o600)
        }
        try write("clouds.yaml", Array(Self.clouds.utf8), mode: 0o644)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ bytes: [UInt8], mode: Int) throws {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/" + name)
    }

    /// The settings that name this folder, and their problems.
    func settings(_ more: [String: String] = [:]) -> (settings: GatewaySettings, problems: [String]) {
        var environment = ["PURSER_GATEWAY_APPS": path]
        environment.merge(more) { _, new in new }
        var reader = SettingsReader(service: GatewayProgram.name, environment: environment)
        let settings = GatewaySettings(&reader)
        reader.finish()
        return (settings, reader.problems)
    }

    /// Replaces a text in the app's file.
    func replace(_ old: String, _ new: String) throws {
        let file = try String(contentsOf: URL(filePath: path + "/clouds.yaml"), encoding: .utf8)
        try write("clouds.yaml", Array(file.replacing(old, with: new).utf8), mode: 0o644)
    }

    static let clouds = """
        id: clouds
        surface: orders
        hosts: [clouds.example]
        pathPrefix: /pay
        bundleIds: [com.example.clouds]
        appAppleId: 1234567890
        environments: [Production, Sandbox]
        loginTokens:
          issuer: \(TestTokens.issuer)
          audience: clouds-login
          keys:
            - {id: login-1, algorithm: HS256, secretFile: keys/login}
        serviceTokens:
          issuer: \(TestTokens.issuer)
          audience: clouds-service
          keys:
            - {id: service-1, algorithm: HS256, secretFile: keys/service}
        assets:
          - {id: DANBING, jsonName: danbing, insufficientCode: BALANCE_NOT_ENOUGH}
          - {id: TIME_MINUTES, jsonName: timeMinutes, insufficientCode: TIME_NOT_ENOUGH}
        products:
          - code: DANBING_60
            appleProductId: pyy_danbing_60
            type: consumable
            grants: [{asset: DANBING, amount: 60}]
            sort: 1
        policies:
          sandbox: listed
          reviewers: []
          testers: []

        """
}
