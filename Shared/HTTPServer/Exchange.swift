import CMicroHTTPD
import Synchronization

/// One request and its answer. libmicrohttpd's event loop and the handler's task meet here, under one lock.
///
/// Created when the request line is read, kept alive by libmicrohttpd's request pointer until the request is
/// completed; a task that is still running then keeps the object, but finds it closed.
final class Exchange: Sendable {
    enum Step {
        /// The request line is known, the head not yet.
        case head
        /// The head was accepted, the body is arriving.
        case receiving
        /// The connection sleeps until the handler answers.
        case suspended(MHDHandle)
        /// The connection sleeps before its body is read.
        case held(MHDHandle)
        /// It was woken from that; the answer is there.
        case woken(HTTPResponse)
        /// The answer is there, the event loop will queue it.
        case answered(HTTPResponse)
        /// The answer is queued or the request is gone.
        case closed
    }

    enum Received {
        case stored
        /// More than the route allows; the connection must be closed.
        case overflow
    }

    /// What an admitted request has taken from the admission's budgets.
    struct Reservation {
        let bodyBytes: Int
        /// Whom it is counted for, if for anybody.
        let client: IPAddress?
        /// Which of the admission's shares it was taken from.
        let share: Int

        /// The share of requests that have none of their own.
        static let usualShare = 0
    }

    private struct State {
        var step: Step = .head
        var request: HTTPRequest?
        var bodyLimit = 0
        var reservation: Reservation?
        var upgrade: HTTPUpgrade?
    }

    /// The request target as it was written; nil if the request line has none.
    let target: [UInt8]?
    private let state = Mutex(State())

    init(target: [UInt8]?) {
        self.target = target
    }

    var step: Step { state.withLock { $0.step } }

    /// The head was accepted, `reservation` was taken from the admission's budgets.
    func startReceiving(_ request: HTTPRequest, bodyLimit: Int, _ reservation: Reservation) {
        state.withLock {
            $0.request = request
            $0.request?.body.reserveCapacity(min(reservation.bodyBytes, bodyLimit))
            $0.bodyLimit = bodyLimit
            $0.reservation = reservation
            // A stop may have answered already.
            if case .head = $0.step { $0.step = .receiving }
        }
    }

    /// Keeps a piece of the body.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> Received {
        state.withLock {
            let held = $0.request?.body.count ?? 0
            guard bytes.count <= $0.bodyLimit - held else { return .overflow }
            $0.request?.body.append(contentsOf: bytes)
            return .stored
        }
    }

    /// The body is complete: puts the connection to sleep and hands the request out, unless it was answered already.
    func suspend(_ connection: OpaquePointer) -> HTTPRequest? {
        let handle = MHDHandle(pointer: connection)
        return state.withLock {
            guard case .receiving = $0.step, let request = $0.request else { return nil }
            MHD_suspend_connection(handle.pointer)
            $0.step = .suspended(handle)
            $0.request = nil
            return request
        }
    }

    /// Puts the connection to sleep before its body is read; it is woken by ``answer(_:)``.
    ///
    /// - Returns: false if it was answered meanwhile.
    func hold(_ connection: OpaquePointer) -> Bool {
        let handle = MHDHandle(pointer: connection)
        return state.withLock {
            guard case .head = $0.step else { return false }
            MHD_suspend_connection(handle.pointer)
            $0.step = .held(handle)
            return true
        }
    }

    /// Gives the answer; only the first one counts, and none once the request is gone. Any thread.
    func answer(_ response: HTTPResponse) {
        state.withLock {
            switch $0.step {
            case .head, .receiving:
                $0.step = .answered(response)
            case .suspended(let handle):
                $0.step = .answered(response)
                MHD_resume_connection(handle.pointer)
            case .held(let handle):
                $0.step = .woken(response)
                MHD_resume_connection(handle.pointer)
            case .woken, .answered, .closed:
                break
            }
        }
    }

    /// The event loop has seen that a held connection is awake.
    func goOn(with response: HTTPResponse) {
        state.withLock {
            if case .woken = $0.step { $0.step = .answered(response) }
        }
    }

    /// Over, except that the socket may still be taken over.
    func close(upgrade: HTTPUpgrade? = nil) {
        state.withLock {
            $0.step = .closed
            $0.request = nil
            $0.upgrade = upgrade
        }
    }

    /// Who takes the socket over; a second call returns nil.
    func takeUpgrade() -> HTTPUpgrade? {
        state.withLock { $0.upgrade.take() }
    }

    /// What was reserved if this request was admitted; a second call returns nil.
    func takeReservation() -> Reservation? {
        state.withLock { $0.reservation.take() }
    }
}
