import AppStoreSimulation
import Messages
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Control
@testable import Granting

/// No history that the real handlers can make is reported: an audit that cries wolf is not read for long.
@Suite(.timeLimit(.minutes(5))) struct AuditHistoryTests {
    @Test(arguments: 1...4)
    func `a random history is clean after every part of it (INV1 INV3 INV5 INV6 INV8)`(seed: Int) async throws {
        let audited = try await AuditedDatabase.make("random_\(seed)")
        try await onThread {
            var random = SeededGenerator(seed: UInt64(seed))
            for part in 1...3 {
                for _ in 0..<30 { try Self.step(on: audited, &random) }
                let report = try audited.report("--grace", "0")
                try #require(
                    report.failed == [], "seed \(seed), part \(part): \(report.lines.filter { !$0.hasPrefix("ok") })")
            }
        }
    }

    @Test func `audits while two lanes write are clean: each is one snapshot`() async throws {
        let audited = try await AuditedDatabase.make("concurrent")
        try await onThread {
            let writers = (1...2).map { seed in
                let random = Mutex(SeededGenerator(seed: UInt64(seed)))
                return Writer { try random.withLock { try Self.step(on: audited, &$0) } }
            }
            let reports = Result { try (1...12).map { _ in try audited.report() } }
            for writer in writers { try writer.finish() }
            for report in try reports.get() {
                #expect(report.failed == [], "\(report.lines.filter { !$0.hasPrefix("ok") })")
            }
            let report = try audited.report("--grace", "0")
            #expect(report.failed == [] && report.purchases.reduce(0) { $0 + $1.count } > 3)
        }
    }

    /// A purchase, an order or a spend at random.
    private static func step(on shop: AuditedDatabase, _ random: inout SeededGenerator) throws {
        let user = [AuditedDatabase.alice, AuditedDatabase.bob].randomElement(using: &random) ?? AuditedDatabase.alice
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            let number = Int.random(in: 1...9, using: &random)
            let owner = number % 2 == 0 ? AuditedDatabase.alice : AuditedDatabase.bob
            try shop.order("A\(number)", "coins60", token: token(number), by: owner)
        case 1...3:
            let id = "s\(Int.random(in: 1...60, using: &random))"
            try shop.spend(Int64.random(in: 1...150, using: &random), id: id, by: user)
        default:
            let statements = (0...Int.random(in: 0...3, using: &random)).map { _ in statement(&random) }
            let isFed = Int.random(in: 0..<4, using: &random) == 0
            let order = Int.random(in: 0..<4, using: &random) == 0 ? "A\(Int.random(in: 1...9, using: &random))" : nil
            try shop.purchase(statements, by: isFed ? nil : user, order: order)
        }
    }

    private static func token(_ number: Int) -> String { "1111111\(number)-1111-4111-8111-111111111111" }

    /// A statement about one of a few transactions: what never changes about one follows from its number.
    private static func statement(_ random: inout SeededGenerator) -> SimulatedTransaction {
        let number = Int.random(in: 1...16, using: &random)
        let share = [nil, nil, 25_000, 40_000, 100_000].randomElement(using: &random) ?? nil
        let later = Int64.random(in: 0...6, using: &random)
        let revoked = share.map { Int64($0) }
        if number % 5 == 0 {
            // Three transactions of one chain.
            return AuditedDatabase.statement(
                String(number), "forever", original: "5", type: "Non-Consumable", later: later, revoked: revoked)
        }
        let product = number == 7 ? "unknown" : number % 3 == 0 ? "bundle" : "coins60"
        return AuditedDatabase.statement(
            String(number), product, environment: number % 4 == 0 ? "Sandbox" : "Production",
            quantity: Int64(number % 2 + 1), token: number < 7 ? token(number) : nil, later: later, revoked: revoked)
    }
}

/// A thread that writes until it is told to stop.
private final class Writer: Sendable {
    private let stop = StopSignal()
    private let problem = Mutex<(any Error)?>(nil)
    private let thread = Mutex<NamedThread?>(nil)

    init(_ step: @escaping @Sendable () throws -> Void) {
        let new = NamedThread.start(name: "writer") { [self] in
            do {
                while !stop.isStopped { try step() }
            } catch {
                problem.withLock { $0 = error }
            }
        }
        thread.withLock { $0 = new }
    }

    /// Stops it and throws what went wrong.
    func finish() throws {
        stop.stop()
        thread.withLock { $0 }?.join()
        if let error = problem.withLock({ $0 }) { throw error }
    }
}
