import Glibc

/// What is sent, and what must come back.
protocol LoadSource {
    /// Requests there are.
    var count: Int { get }
    /// Puts the request `job` into `buffer`.
    func write(_ job: Int, to buffer: inout [UInt8])
    /// Looks at its answer; false if it is wrong.
    mutating func accept(_ answer: LoadConnection.Answer, of job: Int) -> Bool
}

/// What came of a load.
struct LoadResult {
    /// Microseconds of each right answer, in order of arrival.
    var latencies: [UInt32] = []
    /// Right answers in each second.
    var perSecond: [Int] = []
    var errors = 0
    var firstError: String?
    /// Seconds from the first request to the last answer.
    var elapsed = 0.0
    /// Requests were used up before the time.
    var ranDry = false

    /// Answers a second.
    var rate: Double { Double(latencies.count) / max(elapsed, 0.001) }
    /// Milliseconds that `percent` of all answers took at most.
    func milliseconds(_ percent: Double) -> Double {
        (Statistics.percentile(latencies.map { Double($0) }, percent) ?? 0) / 1_000
    }
    /// Mean in microseconds.
    var meanMicroseconds: Double {
        latencies.reduce(0) { $0 + Double($1) } / Double(max(latencies.count, 1))
    }
}

/// One thread that keeps many connections busy. Runs of one loop never send the same request twice.
struct LoadLoop<Source: LoadSource> {
    /// When requests are sent.
    enum Pace {
        /// A connection sends its next request when it has its answer.
        case closed
        /// Requests come as customers do: at random, so many a second on average, whether or not the earlier ones have
        /// been answered. Latency counts from the time a request should have been sent.
        case open(perSecond: Double)
    }

    /// What the requests are made of.
    private(set) var source: Source
    private let port: UInt16
    private var connections: [LoadConnection] = []
    /// Connections without a request under way; the one that has waited longest comes first.
    private var idle: [Int] = []
    private var next = 0
    private var request: [UInt8] = []
    private var result = LoadResult()
    private var began: UInt64 = 0

    /// How long the last answers may take: longer than the gateway's own patience.
    private static var patience: UInt64 { 15_000_000_000 }

    /// Loads the gateway on `port` of this machine.
    init(_ source: Source, port: UInt16) {
        self.source = source
        self.port = port
    }

    /// Sends for `seconds`, or at most `limit` requests, then waits for the answers that are missing.
    mutating func run(
        clients: Int, _ pace: Pace = .closed, seconds: Double = 3_600, limit: Int = .max
    ) throws -> LoadResult {
        connections = try (0..<clients).map { _ in try LoadConnection(port: port) }
        idle = Array(connections.indices)
        result = LoadResult()
        began = BenchClock.nanoseconds
        let end = began + UInt64(seconds * 1e9)
        let last = limit < source.count - next ? next + limit : source.count
        var arrivals = Arrivals(pace, from: began)
        var now = began
        while true {
            let isSending = now < end && next < last
            if isSending { try start(&arrivals, now, last) }
            if !isSending, idle.count == connections.count { break }
            guard now < end + Self.patience else { throw LoadConnection.Broken(description: "answers are missing") }
            try collect(waiting: isSending ? arrivals.wait(now, hasIdle: !idle.isEmpty) : 100)
            now = BenchClock.nanoseconds
        }
        result.ranDry = next >= last && limit == .max && now < end
        connections = []
        return result
    }

    private mutating func start(_ arrivals: inout Arrivals, _ now: UInt64, _ last: Int) throws {
        var place = 0
        while place < idle.count, next < last, let since = arrivals.take(now) {
            request.removeAll(keepingCapacity: true)
            source.write(next, to: &request)
            try connections[idle[place]].send(request, job: next, since: since)
            next += 1
            place += 1
        }
        idle.removeFirst(place)
    }

    private mutating func collect(waiting milliseconds: Int32) throws {
        var busy: [pollfd] = []
        var places: [Int] = []
        for (place, connection) in connections.enumerated() where connection.job != nil {
            busy.append(pollfd(fd: connection.file, events: Int16(POLLIN), revents: 0))
            places.append(place)
        }
        guard poll(&busy, nfds_t(busy.count), milliseconds) > 0 else { return }
        for (entry, place) in zip(busy, places) where entry.revents != 0 {
            guard let job = connections[place].job, let answer = try connections[place].receive() else { continue }
            note(answer, of: job, since: connections[place].since)
            connections[place].job = nil
            idle.append(place)
        }
    }

    private mutating func note(_ answer: LoadConnection.Answer, of job: Int, since: UInt64) {
        let now = BenchClock.nanoseconds
        result.elapsed = Double(now - began) / 1e9
        guard source.accept(answer, of: job) else {
            result.errors += 1
            result.firstError = result.firstError ?? String(decoding: answer.bytes.prefix(600), as: UTF8.self)
            return
        }
        result.latencies.append(UInt32(clamping: (now - since) / 1_000))
        let second = Int((now - began) / 1_000_000_000)
        while result.perSecond.count <= second { result.perSecond.append(0) }
        result.perSecond[second] += 1
    }
}

/// When requests are due.
private struct Arrivals {
    /// Nanoseconds between two requests on average; 0 = at once.
    private let mean: Double
    private var due: UInt64
    /// The same arrivals in every run.
    private var random: UInt64 = 88_172_645_463_325_252

    init<Source>(_ pace: LoadLoop<Source>.Pace, from began: UInt64) {
        due = began
        switch pace {
        case .closed: mean = 0
        case .open(let perSecond): mean = 1e9 / perSecond
        }
    }

    /// The time the next request counts from, nil if it is not due yet.
    mutating func take(_ now: UInt64) -> UInt64? {
        guard mean > 0 else { return BenchClock.nanoseconds }
        guard due <= now else { return nil }
        defer { due += UInt64(gap()) }
        return due
    }

    /// Milliseconds until the next request is due; rounded up, which counts against what is measured.
    func wait(_ now: UInt64, hasIdle: Bool) -> Int32 {
        guard mean > 0, hasIdle else { return 100 }
        return due <= now ? 0 : Int32((due - now + 999_999) / 1_000_000)
    }

    /// Times between independent customers are distributed exponentially.
    private mutating func gap() -> Double {
        // xorshift64 (Marsaglia 2003).
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        let uniform = Double(random >> 11) / Double(1 << 53)
        return -mean * Glibc.log(1 - uniform)
    }
}
