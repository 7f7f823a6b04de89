import CPostgres
import Glibc

/// A libpq connection: the only place that calls libpq. Owned by one thread; closed when it goes out of scope.
///
/// The socket is non-blocking and everything is sent in pipeline mode, also a single statement, so there is one path: send
/// all, flush while reading (else both sides could wait for each other with full buffers), read until the sync point.
/// After any failure of the connection itself it is broken for good: libpq's state is not worth saving.
struct Wire: ~Copyable {
    private var handle: OpaquePointer?
    private(set) var isBroken = false

    /// What is sent in one round trip.
    enum Command {
        case prepare(name: String, sql: String, types: [UInt32])
        case execute(name: String, EncodedParameters)
        /// Without keeping a prepared statement.
        case executeOnce(sql: String, EncodedParameters)
    }

    /// How a round trip ended.
    enum Ending {
        /// Everything was answered and the server reached the sync point.
        case complete
        /// The command of this index failed and all later ones were skipped; the index after the last one is the sync
        /// point, where a statement outside a transaction commits. `isFatal`: the server closed the connection with it.
        case refused(at: Int, PostgresError.ServerReport, isFatal: Bool)
        /// The connection broke.
        case lost(String)
    }

    /// The answers that came before the ending, one per command.
    struct Flight {
        var results: [Rows] = []
        var ending: Ending = .complete
    }

    private init(adopting handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        if let handle { PQfinish(handle) }
    }

    /// Connects, blocking, bounded by `connect_timeout`.
    static func connect(_ parameters: [(keyword: String, value: String)]) throws(PostgresError) -> Wire {
        let keywords = parameters.map { strdup($0.keyword) } + [nil]
        let values = parameters.map { strdup($0.value) } + [nil]
        defer {
            keywords.forEach { free($0) }
            values.forEach { free($0) }
        }
        // expand_dbname: a conninfo string given as dbname is expanded in place.
        let opened = PQconnectdbParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
        guard let handle = opened else { throw .cannotConnect("out of memory") }
        let wire = Wire(adopting: handle)
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = wire.errorMessage()
            // Options libpq itself refuses (`invalid integer value "…" for connection option`) are quoted.
            if message.hasPrefix("invalid ") { throw .invalidConnectionString }
            throw .cannotConnect(message)
        }
        // Notices would go to standard error, unstructured; TERSE leaves DETAIL and HINT out of messages.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        PQsetErrorVerbosity(handle, PQERRORS_TERSE)
        guard PQsetnonblocking(handle, 1) == 0 else { throw .cannotConnect(wire.errorMessage()) }
        return wire
    }

    /// Whether libpq can parse a conninfo string.
    static func isValid(conninfo: String) -> Bool {
        var message: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(conninfo, &message)
        defer {
            PQconninfoFree(options)
            PQfreemem(message)
        }
        return options != nil
    }

    mutating func close() {
        if let handle { PQfinish(handle) }
        handle = nil
        isBroken = true
    }

    /// Everything libpq says about the connection's last failure.
    borrowing func currentMessage() -> String {
        PQerrorMessage(handle).map { String(cString: $0) } ?? ""
    }

    /// The server's process for this connection, 0 once closed.
    var backendProcessID: Int32 { PQbackendPID(handle) }

    /// Whether the server said, at the last sync point, that a transaction is open and has not failed.
    var isInTransaction: Bool { !isBroken && PQtransactionStatus(handle) == PQTRANS_INTRANS }

    /// Whether the server said, at the last sync point, that no transaction is open.
    var isIdle: Bool { !isBroken && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Sends all commands and a sync point in one go and reads the answers.
    /// - Parameter patience: longest silence of the server; beyond it the connection counts as lost. `nil`: none.
    mutating func fly(_ commands: [Command], patience: Duration?) -> Flight {
        var flight = Flight()
        guard let handle, !isBroken else {
            flight.ending = .lost("it was closed before")
            return flight
        }
        let isSent =
            PQenterPipelineMode(handle) == 1 && commands.allSatisfy { Self.send($0, handle) }
            && PQpipelineSync(handle) == 1 && Self.flush(handle, patience)
        guard isSent, Self.receive(&flight, handle, count: commands.count, patience), PQexitPipelineMode(handle) == 1
        else {
            let message = errorMessage()
            isBroken = true
            if case .complete = flight.ending { flight.ending = .lost(message) }
            return flight
        }
        return flight
    }

    /// Runs several statements by the simple protocol, without values. Results are dropped.
    mutating func run(script: String) -> Ending {
        guard let handle, !isBroken else { return .lost("it was closed before") }
        var ending = Ending.complete
        var isAlive = PQsendQuery(handle, script) == 1 && Self.flush(handle, nil)
        reading: while isAlive {
            switch Self.next(handle, nil) {
            case .lost: isAlive = false
            case .none: break reading
            case .some(let result):
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
                case PGRES_FATAL_ERROR:
                    guard case .complete = ending else { break }
                    guard let report = Self.report(result) else { isAlive = false; break }
                    ending = .refused(at: 0, report, isFatal: Self.isFatal(result))
                default: isAlive = false  // COPY: there is nobody to talk to it
                }
            }
        }
        guard isAlive else {
            let message = errorMessage()
            isBroken = true
            if case .complete = ending { ending = .lost(message) }
            return ending
        }
        return ending
    }
}

extension Wire {
    private static func send(_ command: Command, _ handle: OpaquePointer) -> Bool {
        switch command {
        case .prepare(let name, let sql, let types):
            PQsendPrepare(handle, name, sql, Int32(clamping: types.count), types) == 1
        case .execute(let name, let parameters):
            withPointers(parameters) { values in
                PQsendQueryPrepared(
                    handle, name, Int32(clamping: values.count), values, parameters.lengths, parameters.formats,
                    EncodedParameters.Format.binary) == 1
            }
        case .executeOnce(let sql, let parameters):
            withPointers(parameters) { values in
                PQsendQueryParams(
                    handle, sql, Int32(clamping: values.count), parameters.types, values, parameters.lengths,
                    parameters.formats, EncodedParameters.Format.binary) == 1
            }
        }
    }

    private static func withPointers(
        _ parameters: EncodedParameters, _ body: ([UnsafePointer<CChar>?]) -> Bool
    ) -> Bool {
        parameters.bytes.withUnsafeBytes { bytes in
            body(
                parameters.offsets.map { offset in
                    offset.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
                })
        }
    }

    /// Hands everything buffered to the kernel, taking in what the server sends meanwhile.
    private static func flush(_ handle: OpaquePointer, _ patience: Duration?) -> Bool {
        while true {
            switch PQflush(handle) {
            case 0: return true
            case 1:
                guard let ready = wait(handle, POLLIN | POLLOUT, patience) else { return false }
                if ready & POLLIN != 0, PQconsumeInput(handle) != 1 { return false }
            default: return false
            }
        }
    }

    private enum Answer {
        case some(OpaquePointer)
        case none
        case lost
    }

    private static func next(_ handle: OpaquePointer, _ patience: Duration?) -> Answer {
        while PQisBusy(handle) == 1 {
            guard wait(handle, POLLIN, patience) != nil else { return .lost }
            // At the end of the stream the server's last words may still be in the buffer: PQisBusy parses them.
            if PQconsumeInput(handle) != 1, PQisBusy(handle) == 1 { return .lost }
        }
        return PQgetResult(handle).map { .some($0) } ?? .none
    }

    /// Reads one result for each command, then the sync point.
    private static func receive(
        _ flight: inout Flight, _ handle: OpaquePointer, count: Int, _ patience: Duration?
    ) -> Bool {
        for index in 0..<count {
            var isAnswered = false
            while true {
                switch next(handle, patience) {
                case .lost: return false
                case .none where isAnswered: break
                case .none: return false
                case .some(let result):
                    isAnswered = true
                    defer { PQclear(result) }
                    guard take(result, at: index, &flight) else { return false }
                    continue
                }
                break
            }
        }
        return receiveSync(&flight, handle, at: count, patience)
    }

    /// Reads up to the sync point. A statement outside a transaction commits only here, so an error may come here, too,
    /// for example of a deferred constraint.
    private static func receiveSync(
        _ flight: inout Flight, _ handle: OpaquePointer, at index: Int, _ patience: Duration?
    ) -> Bool {
        var emptyAnswers = 0
        while emptyAnswers < 3 {  // one follows an error; more mean that libpq has nothing to say any more
            switch next(handle, patience) {
            case .lost: return false
            case .none: emptyAnswers += 1
            case .some(let result):
                defer { PQclear(result) }
                if PQresultStatus(result) == PGRES_PIPELINE_SYNC { return true }
                guard take(result, at: index, &flight) else { return false }
            }
        }
        return false
    }

    /// Keeps a result, or the first error. False if the connection is no longer usable.
    private static func take(_ result: OpaquePointer, at index: Int, _ flight: inout Flight) -> Bool {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            flight.results.append(Self.rows(result))
            return true
        case PGRES_PIPELINE_ABORTED: return true
        case PGRES_FATAL_ERROR:
            guard let report = Self.report(result) else { return false }
            let isFatal = Self.isFatal(result)
            if case .complete = flight.ending { flight.ending = .refused(at: index, report, isFatal: isFatal) }
            return !isFatal
        default: return false  // COPY and the like cannot be in a pipeline
        }
    }

    /// Waits until the socket is ready; `nil` after `patience` or on a failure of the socket.
    private static func wait(_ handle: OpaquePointer, _ events: Int32, _ patience: Duration?) -> Int32? {
        let deadline = patience.map { ContinuousClock.now + $0 }
        while true {
            var timeout: Int32 = -1
            if let deadline {
                let left = (deadline - ContinuousClock.now).components
                guard left.seconds >= 0, left.attoseconds >= 0 else { return nil }
                timeout = Int32(clamping: left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000 + 1)
            }
            var entry = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            let ready = poll(&entry, 1, timeout)
            // Errors and hang-ups count as readable: reading tells which one it is.
            if ready > 0 { return Int32(entry.revents) & POLLOUT | (Int32(entry.revents) & ~POLLOUT != 0 ? POLLIN : 0) }
            if ready < 0, errno != EINTR { return nil }
        }
    }
}
