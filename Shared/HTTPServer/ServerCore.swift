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
    let held: HeldAnswers

    /// Longer bodies of refused requests are not read past, the connection is closed instead; 64 KiB is what a socket
    /// holds anyway.
    private static let longestIgnoredBody = 64 << 10

    init(
        configuration: HTTPServer.Configuration, bodyLimit: @escaping @Sendable (String, String) -> Int,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.configuration = configuration
        self.bodyLimit = bodyLimit
        self.handler = handler
        let usual = HTTPServer.Share(
            requests: configuration.maximumInFlight, bodyBytes: configuration.maximumBodyBytesInFlight)
        admission = Admission(
            shares: [usual] + configuration.apart.map(\.share),
            maximumPerAddress: configuration.maximumInFlightPerAddress)
        // A quarter of the connections: the rest stay for those who are answered.
        held = HeldAnswers(limit: max(1, configuration.maximumConnections / 4))
    }

    /// Whether a new connection may stay. Several event loops may let one too many in each.
    func admitsConnection(from peer: IPAddress) -> Bool {
        configuration.gatekeeper.admitsConnection(
            from: peer, open: watch.count(of: peer), limit: configuration.maximumConnectionsPerAddress)
    }

    /// - Returns: false to close the connection at once.
    func access(_ call: Call) -> Bool {
        switch call.exchange.step {
        case .head:
            return judge(call)
        case .receiving:
            return call.upload.isEmpty ? complete(call) : receive(call)
        case .answered(let response):
            return call.upload.isEmpty ? queue(response, call) : true
        case .woken(let response):
            // libmicrohttpd repeats the call it was put to sleep in, the one for the head. An answer to that call would end
            // the connection with the body unread, so it is given when the body has gone by.
            call.exchange.goOn(with: response)
            return true
        case .suspended, .held, .closed:
            return false
        }
    }

    /// Judges the head and everything that can be refused before the body is read.
    private func judge(_ call: Call) -> Bool {
        let peer = Self.peer(of: call.connection)
        let head: RequestHead
        do throws(HTTPFailure) {
            head = try readHead(call)
        } catch {
            if let peer, !configuration.gatekeeper.answersUnreadableHead(from: peer) { return false }
            return refuse(call, configuration.errorResponse(error))
        }
        var request = HTTPRequest(
            method: head.method, path: head.target.path, query: head.target.query, headers: head.headers,
            remoteAddress: peer?.description ?? "", client: peer)
        var counted: IPAddress?
        if let peer {
            switch configuration.gatekeeper.judge(request, from: peer) {
            case .refused(let response): return hold(response, call, head.framing)
            case .admitted(let client, let isLimited):
                request.client = client
                counted = isLimited ? client : nil
            }
        }
        do throws(HTTPFailure) {
            try begin(call, request, head.framing, countedFor: counted)
            return true
        } catch .tooManyRequests {
            return hold(configuration.errorResponse(.tooManyRequests), call, head.framing)
        } catch {
            return refuse(call, configuration.errorResponse(error))
        }
    }

    private func readHead(_ call: Call) throws(HTTPFailure) -> RequestHead {
        guard
            let raw = HeadLayout.read(
                call.connection, target: call.exchange.target, url: call.url, method: call.method,
                version: call.version, fieldLimit: configuration.headerFieldLimit)
        else { throw .malformedRequest(.target) }
        return try RequestHead(
            raw, headerLimit: configuration.headerLimit, fieldLimit: configuration.headerFieldLimit)
    }

    /// Lets the body come.
    private func begin(
        _ call: Call, _ request: HTTPRequest, _ framing: RequestHead.Framing, countedFor client: IPAddress?
    ) throws(HTTPFailure) {
        let limit = max(0, bodyLimit(request.method, request.path))
        let announced = framing.announced ?? limit
        guard announced <= limit else { throw .bodyTooLarge(limit: limit) }
        let apart = configuration.apart.firstIndex { $0.isMember(request.path) }
        let reservation = Exchange.Reservation(
            bodyBytes: announced, client: client, share: apart.map { $0 + 1 } ?? Exchange.Reservation.usualShare)
        try admission.admit(call.exchange, reservation)
        call.exchange.startReceiving(request, bodyLimit: limit, reservation)
        watch.expect(call.connection, within: configuration.bodyDeadline, readingBody: true)
    }

    /// Refuses a little later what came too often; at once, and for good, if there is no place to wait or the body is
    /// more than is worth reading past.
    private func hold(_ response: HTTPResponse, _ call: Call, _ framing: RequestHead.Framing) -> Bool {
        let delay = configuration.refusalDelay
        guard delay > .zero, let announced = framing.announced, announced <= Self.longestIgnoredBody,
            held.add(call.exchange, response, until: .now + delay)
        else { return refuse(call, response) }
        // Nothing of the connection is read meanwhile; after it the body is read and thrown away.
        watch.expect(call.connection, within: delay + configuration.bodyDeadline, readingBody: true)
        guard !call.exchange.hold(call.connection) else { return true }
        guard case .answered(let response) = call.exchange.step else { return false }
        return refuse(call, response)
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

    private func refuse(_ call: Call, _ response: HTTPResponse) -> Bool {
        var response = response
        response.closesConnection = true
        return queue(response, call)
    }

    private func queue(_ response: HTTPResponse, _ call: Call) -> Bool {
        if let upgrade = response.upgrade, hand(over: upgrade, response, call) { return true }
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

    /// Answers 101; false if that is not possible.
    private func hand(over upgrade: HTTPUpgrade, _ response: HTTPResponse, _ call: Call) -> Bool {
        guard !admission.isDraining,
            let made = ResponseComposer.makeUpgrade(response, ServerCallbacks.upgrade)
        else { return false }
        defer { MHD_destroy_response(made) }
        call.exchange.close(upgrade: upgrade)
        watch.expect(call.connection, within: configuration.answerDeadline)
        return MHD_queue_response(call.connection, UInt32(response.status), made) == .YES
    }

    /// The request is over: answered, refused, or its client is gone.
    func completed(_ exchange: Exchange, on connection: OpaquePointer) {
        exchange.close()
        if let reservation = exchange.takeReservation() { admission.leave(exchange, reservation) }
        watch.expect(connection, within: configuration.headDeadline)
    }

    /// The address of the other side.
    static func peer(of connection: OpaquePointer) -> IPAddress? {
        purser_mhd_client_address(connection).flatMap { IPAddress($0) }
    }
}

extension RequestHead.Framing {
    /// Bytes of the body as far as they are known beforehand: nil for a chunked one.
    fileprivate var announced: Int? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}
