import CMicroHTTPD
import Glibc

/// What the callbacks of libmicrohttpd do. All of it runs on event loops except the handler's task.
final class ServerCore: Sendable {
    /// One call of libmicrohttpd's access handler.
    struct Call {
        let connection: OpaquePointer
        let exchange: Exchange
        let url: UnsafePointer<CChar>?
        let method: UnsafePointer<CChar>?
        let version: UnsafePointer<CChar>?
        let upload: UnsafeBufferPointer<UInt8>
    }

    let configuration: HTTPServer.Configuration
    let bodyLimit: @Sendable (_ method: String, _ path: String) -> Int
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse
    let admission: Admission
    let watch = ConnectionWatch()

    init(
        configuration: HTTPServer.Configuration, bodyLimit: @escaping @Sendable (String, String) -> Int,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.configuration = configuration
        self.bodyLimit = bodyLimit
        self.handler = handler
        admission = Admission(
            maximumInFlight: configuration.maximumInFlight, maximumBodyBytes: configuration.maximumBodyBytesInFlight)
    }

    /// - Returns: false to close the connection at once.
    func access(_ call: Call) -> Bool {
        switch call.exchange.step {
        case .head:
            do throws(HTTPFailure) {
                try begin(call)
                return true
            } catch {
                return refuse(call, error)
            }
        case .receiving:
            return call.upload.isEmpty ? complete(call) : receive(call)
        case .answered(let response):
            return call.upload.isEmpty ? queue(response, call) : true
        case .suspended, .closed:
            return false
        }
    }

    /// Judges the head and everything that can be refused before the body is read.
    private func begin(_ call: Call) throws(HTTPFailure) {
        guard
            let raw = HeadLayout.read(
                call.connection, target: call.exchange.target, url: call.url, method: call.method,
                version: call.version, fieldLimit: configuration.headerFieldLimit)
        else { throw .malformedRequest(.target) }
        let head = try RequestHead(
            raw, headerLimit: configuration.headerLimit, fieldLimit: configuration.headerFieldLimit)
        let limit = max(0, bodyLimit(head.method, head.target.path))
        let announced: Int
        switch head.framing {
        case .none: announced = 0
        case .length(let length): announced = length
        case .chunked: announced = limit
        }
        guard announced <= limit else { throw .bodyTooLarge(limit: limit) }
        try admission.admit(call.exchange, bodyBytes: announced)
        let request = HTTPRequest(
            method: head.method, path: head.target.path, query: head.target.query, headers: head.headers,
            remoteAddress: Self.peer(of: call.connection))
        call.exchange.startReceiving(request, bodyLimit: limit, reservedBytes: announced)
        watch.expect(call.connection, within: configuration.bodyDeadline, readingBody: true)
    }

    private func receive(_ call: Call) -> Bool {
        switch call.exchange.receive(call.upload) {
        case .stored:
            return true
        case .overflow:
            // Only a chunked body can get here, and libmicrohttpd queues no answer in the middle of a body.
            let failure = HTTPFailure.bodyTooLarge(limit: Self.limit(of: call, by: bodyLimit))
            ConnectionWatch.send(
                ResponseComposer.bytes(configuration.errorResponse(failure)), to: purser_mhd_socket(call.connection))
            return false
        }
    }

    private static func limit(of call: Call, by bodyLimit: (String, String) -> Int) -> Int {
        guard let method = call.method, let target = call.exchange.target,
            let path = try? RequestTarget.parse(target).path
        else { return 0 }
        return bodyLimit(String(cString: method), path)
    }

    private func complete(_ call: Call) -> Bool {
        watch.expect(call.connection, within: nil)
        guard let request = call.exchange.suspend(call.connection) else {
            guard case .answered(let response) = call.exchange.step else { return false }
            return queue(response, call)
        }
        let exchange = call.exchange
        let handler = handler
        Task { exchange.answer(await handler(request)) }
        return true
    }

    private func refuse(_ call: Call, _ failure: HTTPFailure) -> Bool {
        var response = configuration.errorResponse(failure)
        response.closesConnection = true
        return queue(response, call)
    }

    private func queue(_ response: HTTPResponse, _ call: Call) -> Bool {
        call.exchange.close()
        watch.expect(call.connection, within: configuration.answerDeadline)
        let closes = response.closesConnection || admission.isDraining
        if let made = ResponseComposer.make(response, closes: closes) {
            defer { MHD_destroy_response(made) }
            return MHD_queue_response(call.connection, UInt32(response.status), made) == .YES
        }
        let failure = HTTPFailure.invalidResponse
        let made =
            ResponseComposer.make(configuration.errorResponse(failure), closes: true)
            ?? ResponseComposer.make(failure.plainResponse, closes: true)
        guard let made else { return false }
        defer { MHD_destroy_response(made) }
        return MHD_queue_response(call.connection, UInt32(failure.status), made) == .YES
    }

    /// The request is over: answered, refused, or its client is gone.
    func completed(_ exchange: Exchange, on connection: OpaquePointer) {
        exchange.close()
        if let bytes = exchange.takeReservation() { admission.leave(exchange, bodyBytes: bytes) }
        watch.expect(connection, within: configuration.headDeadline)
    }

    /// The numeric address of the other side; empty if it has none.
    private static func peer(of connection: OpaquePointer) -> String {
        guard let address = purser_mhd_client_address(connection) else { return "" }
        return SocketAddress.text(of: address)
    }
}
