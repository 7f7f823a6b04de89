import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Every place the lane of commands can die at, on real parts: in a catalogue import, and in the re-drives it asks for.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RunCommandsCrashTests {
    /// A fault, and how many messages are in hand when it happens: the import alone, or re-drives.
    struct Scene: Sendable, CustomTestStringConvertible {
        let fault: LaneFault
        let batch: Int
        var testDescription: String { "\(fault.rawValue), \(batch) in hand" }

        static let all =
            LaneFault.allCases.map { Scene(fault: $0, batch: 1) }
            + LaneFault.allCases.filter { $0.crashPoint != nil }.map { Scene(fault: $0, batch: 2) }
    }

    /// Thirty purchases that wait for a catalogue.
    private static let held = (1...30).map(String.init)

    /// Two operators import at once, and somebody asks for ten purchases to be decided anew.
    private struct Story {
        let imports: [OutgoingMessage]
        let messages: [OutgoingMessage]

        init(_ stage: LaneStage) throws {
            imports = try ["anna", "otto"].map { actor in
                try stage.request(
                    CatalogImportRequested(
                        app: Shop.app, actor: actor, expectedVersion: 1, definition: Shop.definition()))
            }
            let redrives = try held.prefix(10).map {
                try stage.request(
                    PurchaseRedriveRequested(transactionID: TransactionID($0), environment: .production))
            }
            messages = imports + redrives
        }
    }

    @Test(arguments: Scene.all)
    func `a catalogue comes into force once, and every held purchase is delivered once (C1 C2 C3 C4 C7 C8)`(
        scene: Scene
    ) async throws {
        let granting = try await GrantingStage.make(
            Topology.grantingCommands, "\(scene.fault.rawValue)_\(scene.batch)", Shop.definition(products: []))
        try await onThread {
            var session = try granting.granting.open()
            _ = try session.run(
                GrantPurchases(), try Self.held.map { try verified(transaction($0), by: "user\($0.suffix(1))") })
            #expect(
                try granting.number("SELECT count(*) FROM granting.transactions WHERE held_reason IS NOT NULL") == 30)
            let story = try Story(granting.stage)
            try granting.stage.survive(
                scene.fault, story.messages, fact: .catalogImported, batchOf: scene.batch,
                handler: { RunCommands() }
            ) { try granting.number("SELECT count(*) FROM granting.grants") == 30 }
            try granting.expectOrder()
            let expected = Dictionary(uniqueKeysWithValues: (0...9).map { ("user\($0) DANBING", Int64(180)) })
            #expect(try granting.balances() == expected)
            #expect(try granting.number("SELECT count(*) FROM granting.ledger") == 30)
            #expect(try granting.number("SELECT max(version) FROM granting.catalog_versions") == 2)
            #expect(
                try granting.number("SELECT count(*) FROM granting.transactions WHERE held_reason IS NOT NULL") == 0)
            try Self.expectTold(granting, story, scene.fault)
        }
    }

    private static func expectTold(_ granting: GrantingStage, _ story: Story, _ fault: LaneFault) throws {
        let facts = try granting.stage.facts()
        let granted = try facts.identifiers(PurchaseGranted.self) { $0.transactionID.rawValue }
        #expect(Set(granted.keys) == Set(held) && granted.values.allSatisfy { $0.count == 1 })
        let imported = try facts.identifiers(CatalogImported.self) { "\($0.catalogVersion)" }
        #expect(imported["2"]?.count == 1, "told under one id")
        let answers = try granting.stage.answers().answers(CatalogAnswered.self)
        let told = story.imports.map { answers[$0.id] ?? [] }
        #expect(told.allSatisfy { !$0.isEmpty }, "both operators are answered")
        // One import came into force, and is answered so however often it is delivered; the other came too late.
        let winners = told.filter { $0.allSatisfy { $0.problems.isEmpty && $0.catalogVersion == 2 } }
        let losers = told.filter { $0.allSatisfy { $0.problems.count == 1 } }
        #expect(winners.count == 1 && losers.count == 1, "\(told.map { $0.map(\.problems) })")
        if fault == .runsTwice { #expect(winners.joined().count == 3) }
    }
}
