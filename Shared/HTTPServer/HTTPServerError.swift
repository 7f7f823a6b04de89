/// Why a server could not be started.
public enum HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address is no numeric IPv4 or IPv6 address.
    case invalidAddress(String)
    /// A setting is out of its range; the text names it.
    case invalidSetting(String)
    /// The system refused to listen: the port is taken, or needs a privilege (errno).
    case cannotListen(port: UInt16, errno: Int32)

    /// A stable, dotted name.
    public var code: String {
        switch self {
        case .invalidAddress: "http_server.invalid_address"
        case .invalidSetting: "http_server.invalid_setting"
        case .cannotListen: "http_server.cannot_listen"
        }
    }

    /// Whether trying again can help: a taken port becomes free when its owner ends.
    public var isRetryable: Bool {
        if case .cannotListen = self { true } else { false }
    }

    /// Code and what was asked for.
    public var description: String {
        switch self {
        case .invalidAddress(let address): "\(code): \(address)"
        case .invalidSetting(let name): "\(code): \(name)"
        case .cannotListen(let port, let errno): "\(code): port \(port), errno \(errno)"
        }
    }
}
