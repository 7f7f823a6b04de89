import Service

/// Whom the service may ask about revocation: its settings `OCSP_…`.
struct ResponderSettings: Sendable, Equatable {
    /// Hosts that may be asked, lower case, with a port where it is not the scheme's own.
    let hosts: Set<String>
    /// Those of them that may be at an address within this machine or its networks.
    let privateHosts: Set<String>
    /// A proxy's URL.
    let proxy: String?
    /// How long one answer may take.
    let timeout: Duration

    /// Apple's responders (the certificates of today name no other host).
    static let defaultHosts = "ocsp.apple.com"

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        let hosts = reader.text(
            "OCSP_HOSTS", default: Self.defaultHosts,
            meaning:
                "hosts that may be asked whether a certificate is revoked, separated by commas; host:port for others")
        let privateHosts = reader.optionalText(
            "OCSP_PRIVATE_HOSTS",
            meaning: "the same, for hosts within this machine or its networks: the simulator's; never in production")
        proxy = reader.optionalText(
            "OCSP_PROXY", meaning: "a proxy's URL to ask through; it then looks up the names and may be anywhere")
        // Two answers in a row, and the database's patience with an open transaction is 10 s.
        timeout = .milliseconds(
            reader.integer(
                "OCSP_TIMEOUT", default: 4_000, in: 50...4_500, meaning: "how long one answer may take, in ms"))
        self.privateHosts = Self.list(privateHosts ?? "")
        self.hosts = Self.list(hosts).union(self.privateHosts)
    }

    /// For tests.
    init(hosts: Set<String>, privateHosts: Set<String> = [], proxy: String? = nil, timeout: Duration = .seconds(4)) {
        self.hosts = hosts.union(privateHosts)
        self.privateHosts = privateHosts
        self.proxy = proxy
        self.timeout = timeout
    }

    private static func list(_ text: String) -> Set<String> {
        Set(
            text.lowercased().split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
                .filter { !$0.isEmpty })
    }
}
