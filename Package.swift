// swift-tools-version: 6.2
import PackageDescription

/// Every target is compiled the same way: Swift 6 mode, explicit existentials, members visible only
/// through the module that is imported, imports internal by default, and no warning tolerated.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Compiled optimised also for debugging, because the simulation runs it a hundred thousand times a test run.
let fast: [SwiftSetting] = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// A C library of the system: a module map and a shim header, nothing else.
func system(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, path: "Shared/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func shared(
    _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = [],
    settings: [SwiftSetting] = settings
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Shared/\(name)", resources: resources, swiftSettings: settings)
}

func service(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Services/\(name)", exclude: ["README.md"], resources: resources,
        swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests", swiftSettings: settings)
}

let package = Package(
    name: "Purser",
    products: [
        .executable(name: "purser-gateway", targets: ["Gateway"]),
        .executable(name: "purser-verification", targets: ["Verification"]),
        .executable(name: "purser-notification-intake", targets: ["NotificationIntake"]),
        .executable(name: "purser-granting", targets: ["GrantingExecutable"]),
        .executable(name: "purser-reconciliation", targets: ["Reconciliation"]),
        .executable(name: "purser", targets: ["Control"]),
        .executable(name: "appstore-simulator", targets: ["AppStoreSimulator"]),
        .executable(name: "purser-drills", targets: ["Drills"]),
        .executable(name: "purser-fuzz", targets: ["Fuzz"]),
        .executable(name: "purser-simulation", targets: ["Simulate"]),
    ],
    targets: [
        system("CRabbitMQ", pkgConfig: "librabbitmq", apt: "librabbitmq-dev"),
        system("CPostgres", pkgConfig: "libpq", apt: "libpq-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        // Debian's package has no file for pkg-config.
        .systemLibrary(name: "CWslay", path: "Shared/CWslay", providers: [.apt(["libwslay-dev"])]),
        system("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),

        shared("Runtime"),
        shared("Observability"),
        shared("Crypto", ["COpenSSL"]),
        shared("JSON"),
        shared("YAML", ["CYAML"]),
        shared("SalesReports", ["CZlib"]),
        shared("CSV"),
        shared("AMQP", ["CRabbitMQ", "Runtime", "Observability"]),
        shared("Postgres", ["CPostgres", "Observability"]),
        shared("HTTPServer", ["CMicroHTTPD", "Runtime"]),
        shared("HTTPClient", ["CCurl"]),
        shared("WebSocket", ["CWslay", "HTTPServer", "Crypto", "JOSE", "Runtime"]),
        // Written by protoc-c from iap.proto (infra/scripts/generate).
        .target(
            name: "CGameProtocol", path: "Shared/CGameProtocol", exclude: ["iap.proto"],
            linkerSettings: [.linkedLibrary("protobuf-c")]),
        shared("GameProtocol", ["CGameProtocol"]),
        shared("JOSE", ["Crypto", "JSON"]),
        shared("Messages", settings: fast),
        shared("Apps", ["YAML", "CSV", "JOSE", "Crypto", "Observability", "Messages"]),
        shared("Pipeline", ["AMQP", "Postgres", "Messages", "Crypto", "Runtime", "Observability"], settings: fast),
        shared(
            "Service", ["Pipeline", "AMQP", "Postgres", "HTTPServer", "Messages", "Runtime", "Observability", "Crypto"]),
        shared(
            "AppStore", ["JOSE", "Crypto", "JSON"],
            resources: [
                .embedInCode("Roots/AppleRootCA-G3.cer"), .embedInCode("Roots/AppleRootCA-G2.cer"),
                .embedInCode("Roots/AppleIncRootCertificate.cer"),
            ]),
        shared("LegacyReceipts", ["AppStore", "JOSE", "Crypto", "JSON"]),
        // Apps' files that change while services run.
        shared("Reloading", ["Apps", "Service", "Runtime", "Observability"]),
        // What every service that verifies has in common.
        shared(
            "Trust",
            [
                "Service", "Apps", "AppStore", "LegacyReceipts", "JOSE", "Crypto", "Messages", "Pipeline", "Postgres",
                "Observability", "Reloading",
            ]),
        shared("AppStoreServerAPI", ["HTTPClient", "JOSE", "Crypto", "JSON", "Runtime"]),
        // What every service that calls Apple's Server API has in common.
        shared(
            "ServerAPIAccess", ["AppStoreServerAPI", "HTTPClient", "Apps", "Crypto", "Messages", "Service", "Runtime"]),
        shared("AppStoreSimulation", ["AppStore", "GameProtocol", "JOSE", "Crypto", "JSON", "HTTPClient", "Runtime"]),

        service(
            "Gateway",
            [
                "Service", "Apps", "HTTPServer", "WebSocket", "GameProtocol", "JOSE", "JSON", "Crypto", "Messages",
                "Pipeline", "AMQP", "Runtime", "Observability", "Reloading",
            ],
            resources: [.embedInCode("Descriptions")]),
        service(
            "Verification",
            [
                "Service", "Trust", "Reloading", "Apps", "AppStore", "LegacyReceipts", "JOSE", "JSON", "Crypto",
                "HTTPClient", "Messages", "Pipeline", "AMQP", "Postgres", "Observability",
            ],
            resources: [.embedInCode("Migrations")]),
        service(
            "NotificationIntake",
            [
                "Service", "Trust", "Reloading", "Apps", "AppStore", "AppStoreServerAPI", "ServerAPIAccess", "Crypto",
                "JSON",
                "Messages", "Pipeline", "Postgres", "Runtime", "Observability", "HTTPClient",
            ],
            resources: [.embedInCode("Migrations")]),
        // A library beside its executable: the benchmark runs the handlers without a broker.
        .target(
            name: "Granting",
            dependencies: ["Service", "Messages", "Pipeline", "Postgres", "Runtime", "Observability", "Crypto"],
            path: "Services/Granting", exclude: ["README.md", "Executable"],
            resources: [.embedInCode("Migrations")], swiftSettings: fast),
        .executableTarget(
            name: "GrantingExecutable", dependencies: ["Granting"], path: "Services/Granting/Executable",
            swiftSettings: settings),
        service(
            "Reconciliation",
            [
                "Service", "Apps", "Reloading", "AppStoreServerAPI", "ServerAPIAccess", "JOSE", "SalesReports",
                "AppStore", "Trust", "Messages",
                "Pipeline", "AMQP", "Postgres", "JSON", "Runtime", "Observability",
            ],
            resources: [.embedInCode("Migrations")]),
        service(
            "Control",
            [
                "Service", "Apps", "AppStore", "SalesReports", "JOSE", "Crypto", "JSON", "Messages", "Pipeline", "AMQP",
                "Postgres", "Runtime", "Observability",
            ]),
        service(
            "AppStoreSimulator",
            [
                "AppStoreSimulation", "AppStore", "LegacyReceipts", "JOSE", "Crypto", "JSON", "HTTPServer",
                "HTTPClient",
                "Runtime", "Observability",
            ]),
        .executableTarget(
            name: "Drills",
            dependencies: [
                "AppStoreSimulation", "AppStore", "GameProtocol", "LegacyReceipts", "JOSE", "Crypto", "JSON",
                "HTTPClient",
                "Runtime", "Postgres", "AMQP", "Observability", "Granting", "Messages", "Pipeline", "Service",
                "TestSupport",
            ],
            path: "Tests/Drills", swiftSettings: settings),

        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "AppStoreSimulation", "AppStore", "LegacyReceipts", "JOSE", "Crypto", "JSON", "YAML", "CSV", "Apps",
                "SalesReports", "Messages", "Pipeline", "AMQP",
                "HTTPServer", "WebSocket", "GameProtocol", "Runtime", "TestSupport",
            ],
            path: "Tests/Fuzz", swiftSettings: settings),
        // Lanes, broker and database in one process and virtual time.
        .target(
            name: "Simulation", dependencies: ["Granting", "Pipeline", "Messages", "AMQP", "Runtime"],
            path: "Tests/Simulation", swiftSettings: fast + [.unsafeFlags(["-enforce-exclusivity=unchecked"])]),
        .executableTarget(
            name: "Simulate", dependencies: ["Simulation", "Runtime"], path: "Tests/Simulate", swiftSettings: settings),

        .target(
            name: "TestSupport",
            dependencies: [
                "AMQP", "Postgres", "Runtime", "Observability", "Messages", "Pipeline", "Service", "Crypto",
                "HTTPClient", "AppStoreSimulation", "JOSE", "JSON",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        tests("Fuzz", ["Fuzz", "TestSupport"]),
        tests("Runtime", ["Runtime"]),
        tests("Observability", ["Observability"]),
        tests("Crypto", ["Crypto"]),
        tests("JSON", ["JSON"]),
        tests("SalesReports", ["SalesReports"]),
        tests("YAML", ["YAML"]),
        tests("CSV", ["CSV"]),
        tests("AMQP", ["AMQP", "TestSupport", "Runtime", "Observability"]),
        tests("Postgres", ["Postgres", "TestSupport", "Runtime", "Observability"]),
        tests("HTTPServer", ["HTTPServer", "HTTPClient", "Runtime", "TestSupport"]),
        tests("HTTPClient", ["HTTPClient", "HTTPServer", "Runtime", "TestSupport"]),
        tests("WebSocket", ["WebSocket", "HTTPServer", "TestSupport"]),
        tests("GameProtocol", ["GameProtocol"]),
        tests("JOSE", ["JOSE", "Crypto", "JSON"]),
        tests("Messages", ["Messages"]),
        tests("Apps", ["Apps", "YAML", "JOSE", "JSON", "Crypto", "Observability", "Messages"]),
        tests("Pipeline", ["Pipeline", "AMQP", "Postgres", "Messages", "Runtime", "Observability", "TestSupport"]),
        tests(
            "Service",
            [
                "Service", "Pipeline", "AMQP", "Postgres", "Messages", "Runtime", "Observability", "HTTPClient",
                "TestSupport",
            ]),
        tests(
            "AppStoreServerAPI",
            ["AppStoreServerAPI", "HTTPServer", "HTTPClient", "JOSE", "Crypto", "JSON", "Runtime", "TestSupport"]),
        tests(
            "LegacyReceipts",
            ["LegacyReceipts", "AppStore", "AppStoreSimulation", "JOSE", "JSON", "Crypto"]),
        tests("AppStore", ["AppStore", "AppStoreSimulation", "JOSE", "Crypto", "JSON", "TestSupport"]),
        tests(
            "AppStoreSimulation",
            ["AppStoreSimulation", "AppStore", "JOSE", "Crypto", "JSON", "HTTPServer", "HTTPClient", "TestSupport"]),
        tests(
            "AppStoreSimulator",
            [
                "AppStoreSimulator", "AppStoreSimulation", "AppStoreServerAPI", "AppStore", "LegacyReceipts",
                "HTTPServer", "HTTPClient",
                "JOSE", "Crypto", "JSON", "Observability", "Runtime", "TestSupport",
            ]),
        tests(
            "Gateway",
            [
                "Gateway", "Service", "Apps", "Reloading", "HTTPServer", "HTTPClient", "WebSocket", "GameProtocol",
                "JOSE", "JSON", "Crypto", "Messages", "Pipeline", "AMQP", "Runtime", "Observability", "TestSupport",
            ]),
        tests(
            "Verification",
            [
                "Verification", "Trust", "Reloading", "AppStore", "LegacyReceipts", "AppStoreSimulation", "Apps",
                "Messages",
                "Pipeline", "Postgres", "HTTPServer", "HTTPClient", "JOSE", "JSON",
                "Crypto", "Observability", "Runtime", "TestSupport", "AMQP", "Service",
            ]),
        tests(
            "NotificationIntake",
            [
                "NotificationIntake", "Trust", "AppStore", "AppStoreServerAPI", "AppStoreSimulation", "Apps",
                "HTTPClient",
                "Messages", "Pipeline", "Postgres", "JSON", "JOSE", "Crypto", "Observability", "Runtime", "TestSupport",
                "AMQP", "Service",
            ]),
        tests(
            "Granting",
            [
                "Granting", "Messages", "Pipeline", "Postgres", "Observability", "Runtime", "TestSupport", "AMQP",
                "Crypto", "Service",
            ]),
        tests(
            "Reconciliation",
            [
                "Reconciliation", "AppStoreServerAPI", "AppStoreSimulation", "ServerAPIAccess", "HTTPClient", "JOSE",
                "Crypto", "Messages", "Pipeline", "AMQP", "Postgres", "JSON", "Runtime", "Observability", "Service",
                "TestSupport",
            ]),
        tests(
            "Control",
            [
                "Control", "Granting", "Verification", "NotificationIntake", "Reconciliation", "SalesReports", "Trust",
                "AppStore", "LegacyReceipts",
                "AppStoreSimulation", "Apps",
                "JOSE", "JSON",
                "Crypto", "Messages", "Pipeline", "Postgres", "AMQP", "Service", "Runtime", "Observability",
                "TestSupport",
            ]),
        tests("Drills", ["Drills", "AMQP"]),
        // The real processes, or any server: see Tests/ConformanceTests/Subject.swift.
        tests(
            "Conformance",
            ["Drills", "AppStoreSimulation", "JOSE", "JSON", "Crypto", "HTTPClient", "Runtime", "TestSupport"]),
        tests("Simulation", ["Simulation", "Runtime"]),
        tests(
            "EndToEnd",
            [
                "AppStoreSimulation", "AppStore", "GameProtocol", "JOSE", "Crypto", "JSON", "HTTPClient", "AMQP",
                "Postgres",
                "Messages", "Pipeline", "Runtime", "Observability", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
