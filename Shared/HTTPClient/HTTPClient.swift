import CCurl

/// A blocking HTTP client: one libcurl easy handle, for one thread (a lane, a Worker, a test's own thread).
///
/// Connections are kept open between requests. Only http and https, no redirects, no cookies, no decompression, no
/// proxy unless configured; TLS 1.2 or newer with verified certificate and host name, always.
public struct HTTPClient: ~Copyable {
    /// How requests are sent.
    public struct Configuration: Sendable {
        /// From name look-up to an established connection.
        public var connectTimeout: Duration = .seconds(5)
        /// From the start to the last byte of the answer.
        public var timeout: Duration = .seconds(20)
        /// The longest body accepted. 16 MiB hold Apple's largest daily report several times over.
        public var maximumResponseBytes: Int = 16 << 20
        /// A PEM file of certificate authorities instead of the system's.
        public var authoritiesFile: String?
        /// A proxy's URL. The environment's proxy variables are ignored on purpose: who sees Apple's answers is a setting.
        public var proxy: String?
        /// Whether addresses within this machine and its networks may be reached. False where a stranger has a say in the
        /// URL: then every address a name resolves to is looked at before anything is sent there.
        public var allowsPrivateAddresses = true

        /// The defaults.
        public init() {}
    }

    private let handle: UnsafeMutableRawPointer
    private let configuration: Configuration

    /// libcurl's global state, made once for the process.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private init(adopting handle: UnsafeMutableRawPointer, _ configuration: Configuration) {
        self.handle = handle
        self.configuration = configuration
    }

    deinit {
        curl_easy_cleanup(handle)
    }

    /// Opens a client. No connection is made before the first request.
    public static func open(_ configuration: Configuration = Configuration()) throws(HTTPClientError) -> HTTPClient {
        guard isLibraryReady, let handle = curl_easy_init() else { throw .unavailable }
        return HTTPClient(adopting: handle, configuration)
    }

    /// Sends a request and waits for the whole answer. Blocks its thread for at most `Configuration.timeout`.
    ///
    /// - Throws: `HTTPClientError` when there is no complete answer. Unless it is `invalidRequest` or `cannotConnect`,
    ///   the other side may have received the request.
    public mutating func send(_ request: HTTPClientRequest) throws(HTTPClientError) -> HTTPClientResponse {
        try Self.validate(request)
        curl_easy_reset(handle)
        let answer = AnswerCollector(limit: configuration.maximumResponseBytes)
        var fields = Self.fieldList(request)
        defer { curl_slist_free_all(fields) }
        let body = request.body ?? []
        let code = body.withUnsafeBytes { bytes in
            withExtendedLifetime(answer) {
                applyPolicy()
                applyRequest(request, body: bytes, fields: &fields)
                applyCollector(answer)
                return curl_easy_perform(handle)
            }
        }
        if answer.hasRefusedPeer { throw .privateAddress }
        if answer.isTooLarge { throw .responseTooLarge(limit: configuration.maximumResponseBytes) }
        guard code == CURLE_OK else { throw Self.error(code) }
        var status = 0
        purser_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return HTTPClientResponse(status: status, headers: answer.headers, body: answer.body)
    }

    private func applyPolicy() {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        // 2 = the certificate must name the host; 1 is a historic mistake.
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(configuration.connectTimeout))
        set(CURLOPT_TIMEOUT_MS, Self.milliseconds(configuration.timeout))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_PROXY, configuration.proxy ?? "")
        if let file = configuration.authoritiesFile { set(CURLOPT_CAINFO, file) }
    }

    private func applyRequest(
        _ request: HTTPClientRequest, body: UnsafeRawBufferPointer, fields: inout UnsafeMutablePointer<curl_slist>?
    ) {
        set(CURLOPT_URL, request.url)
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if request.body != nil {
            set(CURLOPT_POST, 1)
            purser_curl_set_off(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            // Borrowed until `perform` returns; an empty body needs some address too.
            if let base = body.baseAddress, body.count > 0 {
                purser_curl_set_pointer(handle, CURLOPT_POSTFIELDS, base)
            } else {
                set(CURLOPT_COPYPOSTFIELDS, "")
            }
        }
        set(CURLOPT_CUSTOMREQUEST, request.method)
        purser_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
    }

    private func applyCollector(_ answer: AnswerCollector) {
        let context = Unmanaged.passUnretained(answer).toOpaque()
        purser_curl_set_data(handle, CURLOPT_WRITEFUNCTION, AnswerCollector.takeBody)
        purser_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        purser_curl_set_data(handle, CURLOPT_HEADERFUNCTION, AnswerCollector.takeHeader)
        purser_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        guard !configuration.allowsPrivateAddresses else { return }
        // A connection of before was opened for another question; this one's peer is looked at.
        set(CURLOPT_FRESH_CONNECT, 1)
        purser_curl_set_opensocket(handle, AnswerCollector.openSocket)
        purser_curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
    }

    private func set(_ option: CURLoption, _ value: Int) {
        purser_curl_set_long(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: String) {
        value.withCString { _ = purser_curl_set_pointer(handle, option, $0) }
    }

    /// The caller's fields. libcurl's own `Expect` and its form `Content-Type` are switched off.
    private static func fieldList(_ request: HTTPClientRequest) -> UnsafeMutablePointer<curl_slist>? {
        var list = curl_slist_append(nil, "Expect:")
        if !request.headers.contains(where: { $0.0.lowercased() == "content-type" }) {
            list = curl_slist_append(list, "Content-Type:")
        }
        for (name, value) in request.headers {
            // libcurl takes "Name:" for the wish to drop a field; an empty value is written with a semicolon.
            list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        return list
    }

    private static func validate(_ request: HTTPClientRequest) throws(HTTPClientError) {
        guard isToken(request.method) else { throw .invalidRequest("method") }
        let url = request.url.lowercased()
        guard url.hasPrefix("http://") || url.hasPrefix("https://"),
            request.url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .invalidRequest("url") }
        for (name, value) in request.headers {
            guard isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw .invalidRequest("header field")
            }
        }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return max(1, Int(clamping: seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    private static func error(_ code: CURLcode) -> HTTPClientError {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidRequest("url")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotResolve
        case CURLE_COULDNT_CONNECT: .cannotConnect
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            .tlsFailed
        default: .transfer(curl: Int(code.rawValue))
        }
    }
}
