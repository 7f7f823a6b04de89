public import Observability

/// Where a broker is and how to log in: one virtual host of one RabbitMQ.
public struct AMQPEndpoint: Sendable, Equatable {
    /// How to trust the broker's certificate and, if it asks, to show our own. TLS 1.2 is the least that is spoken.
    public struct TLSOptions: Sendable, Equatable {
        /// PEM file with the trusted authorities. librabbitmq 0.11 has no default, Debian's bundle is ours.
        public var authorityFile: String
        /// PEM files of our own certificate and key, if the broker authenticates clients by certificate.
        public var certificateFile: String?
        /// The key that belongs to `certificateFile`.
        public var keyFile: String?

        /// Debian's bundle of authorities (package ca-certificates).
        public static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

        /// Options with the system's authorities and no certificate of our own.
        public init(
            authorityFile: String = Self.systemAuthorities, certificateFile: String? = nil, keyFile: String? = nil
        ) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Host name or address.
    public var host: String
    /// TCP port: 5672, with TLS 5671.
    public var port: Int
    /// The user to log in as.
    public var user: String
    /// The user's password.
    public var password: Secret
    /// The virtual host, `/` by default.
    public var virtualHost: String
    /// TLS if set.
    public var tls: TLSOptions?
    /// Seconds between heartbeats; a peer that is silent for two of them is given up. 10 finds a half-open
    /// connection within 20 s; 0 would turn heartbeats off in librabbitmq and is refused.
    public var heartbeat: Int = 10
    /// How long dialling may take. 3 s: a healthy broker of the same data centre answers within milliseconds.
    public var connectTimeout: Duration = .seconds(3)
    /// How long one answer of the broker may take (handshake, declare, consume). 5 s covers a leader election (1 s).
    public var replyTimeout: Duration = .seconds(5)

    /// An endpoint from its parts.
    public init(
        host: String, port: Int = 5672, user: String, password: Secret, virtualHost: String = "/",
        tls: TLSOptions? = nil
    ) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.virtualHost = virtualHost
        self.tls = tls
    }

    /// Reads `amqp://user:password@host:port/vhost` or `amqps://…` (RabbitMQ URI specification, with its query
    /// parameters `heartbeat`, `cacertfile`, `certfile`, `keyfile`). Parts are percent-decoded; an absent vhost is `/`.
    public init(url: String) throws(AMQPError) {
        self = try AMQPURL.parse(url)
    }

    /// The same broker and user on another virtual host.
    public func with(virtualHost: String) -> AMQPEndpoint {
        var copy = self
        copy.virtualHost = virtualHost
        return copy
    }
}
