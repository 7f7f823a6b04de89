import AMQP
import Messages
import Observability
import Pipeline
import TestSupport
import Testing

@testable import NotificationIntake

/// Every place Intake's lanes can die at, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StoreNotificationsCrashTests {
    private static func stage(_ name: String, _ queue: Topology.Queue) async throws -> LaneStage {
        try await LaneStage.make(
            suite: "intake_crash", name: name, queue: queue, migrations: IntakeProgram.migrations)
    }

    /// Twelve notifications, each sent by two messages; every third message is a forgery.
    private struct Story {
        static let notifications = 12
        var signed: [String] = []
        var genuine: [OutgoingMessage] = []
        var forged: [OutgoingMessage] = []
        var all: [OutgoingMessage] = []

        init(_ stage: LaneStage) throws {
            let world = try World()
            for number in 1...Self.notifications {
                let text = try world.sign("REFUND", number)
                signed.append(text)
                let twice = try (1...2).map { _ in
                    try stage.request(NotificationReceived(app: World.game, signedPayload: text))
                }
                let forgery = try stage.request(
                    NotificationReceived(app: World.game, signedPayload: "forged.\(number)"))
                genuine += twice
                forged.append(forgery)
                all += twice + [forgery]
            }
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `a notification is kept once and told under one id, whatever breaks (A-047 C1 C2 C3 C4 C7 C8 C20)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage(fault.rawValue, Topology.intakeNotifications)
        try await onThread {
            let intake = IntakeDatabase(database: stage.database)
            let story = try Story(stage)
            try stage.survive(
                fault, story.all, fact: AppleNotificationType.refund.messageType,
                handler: { try IntakeDatabase.handler() }
            ) {
                try intake.count("facts") == Int64(Story.notifications)
                    && intake.count("quarantine") == Int64(story.forged.count)
            }
            #expect(try stage.leftovers() == [])
            #expect(try Set(intake.rebuilt()) == Set(story.signed) && intake.rebuilt().count == story.signed.count)
            let told = try stage.facts()
            #expect(Set(told.map(\.id)).count == Story.notifications, "all copies under one id")
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `a re-drive tells each notification once under one id, whatever breaks`(fault: LaneFault) async throws {
        let stage = try await Self.stage("redrive_" + fault.rawValue, Topology.intakeCommands)
        try await onThread {
            let intake = IntakeDatabase(database: stage.database)
            var session = try intake.open()
            let world = try World()
            _ = try session.run(try (1...5).map { try received(world.sign("REFUND", $0)) })
            // They were told before this lane began.
            try stage.database.execute("DELETE FROM intake.unannounced")
            let requests = try (1...4).map { _ in
                try stage.request(
                    NotificationRedriveRequested(
                        notificationUUIDs: [], environment: nil, notificationTypes: ["REFUND"], actor: "tests",
                        isDryRun: false))
            }
            try stage.survive(
                fault, requests, fact: AppleNotificationType.refund.messageType,
                handler: { try IntakeDatabase.redriver() }
            ) { try intake.count("redrives") == 4 }
            #expect(try stage.leftovers() == [])
            #expect(try intake.count("facts") == 5 + 20)
            #expect(try Set(stage.facts().map(\.id)).count == 20)
            let answers = try stage.answers().answers(NotificationRedriveAnswered.self)
            #expect(Set(answers.keys) == Set(requests.map(\.id)))
            #expect(answers.values.joined().allSatisfy { $0.count == 5 })
        }
    }

    @Test func `what follows goes on to Granting, with cause, app and environment`() async throws {
        let stage = try await Self.stage("passed_on", Topology.intakeNotifications)
        try await onThread {
            _ = try stage.drain(Topology.grantingNotifications.name)
            let request = try stage.request(
                NotificationReceived(app: World.game, signedPayload: try World().sign("REFUND")))
            try stage.publish([request])
            try stage.run(handler: { try IntakeDatabase.handler() }) {
                try stage.depth(Topology.grantingNotifications.name) == 1
            }
            let passed = try #require(try stage.drain(Topology.grantingNotifications.name).first)
            #expect(passed.properties.type == "notification.refund" && passed.routingKey == "notification.refund")
            #expect(passed.properties.headers[HeaderName.causationID]?.stringValue == request.id.rawValue)
            #expect(passed.properties.headers[HeaderName.app] == "game")
            #expect(passed.properties.headers[HeaderName.environment] == "Production")
            let body = try MessageCoding.decode(NotificationVerified.self, from: passed.body)
            #expect(body.transaction?.transactionID == TransactionID("2000000000000001"))
            #expect(!String(decoding: passed.body, as: UTF8.self).contains("eyJ"), "no signed payload travels on")
        }
    }
}
