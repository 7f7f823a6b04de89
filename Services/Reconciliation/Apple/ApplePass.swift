import AppStoreServerAPI
import JSON
import Messages
import Observability
import Pipeline
import Postgres
import ServerAPIAccess

/// One comparison with what Apple tells, for every app and environment that has a key. Lives on the thread that asks
/// Apple. Where it ends, or dies, the next one goes on.
struct ApplePass {
    let settings: ApplePassSettings
    let door: any AppleDoor
    let sources: any AppleSources
    let instruments: AppleMetrics
    let logger: Logger
    /// Passes in a row in which a place had no answer.
    private var failures: [ServerAPIClients.Place: Int] = [:]

    /// Passes without any answer after which it is a finding: Apple's own failures last minutes.
    private static let patience = 4

    init(
        settings: ApplePassSettings, door: any AppleDoor, sources: any AppleSources, instruments: AppleMetrics,
        logger: Logger
    ) {
        self.settings = settings
        self.door = door
        self.sources = sources
        self.instruments = instruments
        self.logger = logger
    }

    /// Runs it.
    ///
    /// - Parameter between: what else the thread does, between calls; false ends the pass.
    /// - Throws: what the database throws, `RequestError` where the other services do not answer.
    mutating func run(
        _ places: [ServerAPIClients.Place], now: Int64, on connection: inout Connection,
        between: (inout Connection) throws -> Bool
    ) throws {
        var open: [(ServerAPIClients.Place, CallBudget)] = []
        for place in places {
            var budget = CallBudget(calls: settings.calls)
            let history = NotificationHistory(pass: self, place: place, now: now)
            let ended = try attempt(place, now, &connection) {
                try history.read(&budget, on: &$0, between: between)
            }
            let compared = try connection.transaction { try AppleSliceTable.comparedUntil(place, in: &$0) }
            if let compared { instruments.gap(place).set(Double(max(0, now - compared)) / 1_000) }
            if ended == false { return }
            if ended == true { open.append((place, budget)) }
        }
        for (place, rest) in open {
            var budget = rest
            budget.deadline = .now + settings.patience / places.count
            let refunds = RefundHistory(pass: self, place: place, now: now)
            let ended = try attempt(place, now, &connection) {
                try refunds.read(&budget, on: &$0, between: between)
            }
            instruments.wait(place).set(try refunds.wait(on: &connection))
            if ended == false { return }
            guard ended == true else { continue }
            failures[place] = nil
            try reached(place, now, &connection)
        }
        instruments.lastPass.set(Double(now) / 1_000)
    }

    /// Asks Apple; nil: Apple has not answered, and that is written down.
    private mutating func attempt(
        _ place: ServerAPIClients.Place, _ now: Int64, _ connection: inout Connection,
        _ work: (inout Connection) throws -> Bool
    ) throws -> Bool? {
        do {
            return try work(&connection)
        } catch let error as ServerAPIError {
            try failed(place, error, now, &connection)
            return nil
        }
    }

    private func reached(_ place: ServerAPIClients.Place, _ now: Int64, _ connection: inout Connection) throws {
        _ = try connection.transaction {
            try FindingStore.resolve(
                [.appleUnreachable], subjects: [place.subject], reason: "Apple has answered", now: now, in: &$0)
        }
    }

    private mutating func failed(
        _ place: ServerAPIClients.Place, _ error: ServerAPIError, _ now: Int64, _ connection: inout Connection
    ) throws {
        instruments.failures(error.code).increment()
        logger.warning(
            "Apple has not answered; the rest is asked later",
            [
                "app": .string(place.app.rawValue), "environment": .string(place.environment.rawValue),
                "error": .string("\(error)"),
            ])
        // The rate is used up, by us or by the other services: Apple is there.
        if case .rateLimited = error { return }
        failures[place, default: 0] += 1
        guard error.concernsKey || failures[place, default: 0] >= Self.patience else { return }
        let finding = NewFinding(
            .appleUnreachable, subject: place.subject, app: place.app,
            evidence: [
                "bundleID": .string(place.bundleID), "environment": .string(place.environment.rawValue),
                "error": .string(error.code), "description": .string("\(error)"),
            ])
        let opened = try connection.transaction { try FindingStore.open([finding], now: now, in: &$0) }
        if opened > 0 { logger.error("Apple cannot be asked", ["app": .string(place.app.rawValue)]) }
    }
}

extension ServerAPIError {
    /// Whether a person has to mend something: the key, or what App Store Connect has of the app.
    var concernsKey: Bool {
        switch self {
        case .unusableKey, .unauthorized, .authorizationPaused: true
        // 4040003: no such app (for this key). 4000002: the bundle id is none.
        case .refused(_, let code): code?.rawValue == 4_040_003 || code?.rawValue == 4_000_002
        case .invalidArgument, .rateLimited, .unreadable, .transport: false
        }
    }
}
