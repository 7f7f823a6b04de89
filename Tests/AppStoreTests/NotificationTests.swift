import AppStoreSimulation
import JSON
import Testing

@testable import AppStore

/// Notifications and the signed data inside them.
@Suite struct NotificationTests {
    static func text(_ jws: [UInt8]) -> String { String(decoding: jws, as: UTF8.self) }

    static let renewalInfo: JSONObject = [
        "originalTransactionId": "2000000000000001", "autoRenewProductId": "com.example.game.pass",
        "autoRenewStatus": 1, "environment": "Production", "signedDate": .integer(World.now - 1000),
    ]

    @Test func `a notification is verified with everything inside it`() throws {
        var world = try World()
        var notification = World.notification("DID_RENEW")
        notification.signedTransactionInfo = Self.text(try world.signer.sign(World.transaction()))
        notification.signedRenewalInfo = Self.text(try world.signer.sign(Self.renewalInfo))
        let verified = try world.verifier.verifyNotification(world.signer.sign(notification), now: World.now)
        #expect(verified.notification.payload.notificationType == "DID_RENEW")
        #expect(verified.transaction?.payload.transactionID == "2000000000000001")
        #expect(verified.renewalInfo?.payload.autoRenewStatus == 1)
        #expect(verified.renewalInfo?.appID == "game")
    }

    @Test func `a transaction inside that names no app belongs to the notification's`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.bundleID = nil
        var notification = World.notification()
        notification.signedTransactionInfo = Self.text(try world.signer.sign(transaction))
        let verified = try world.verifier.verifyNotification(world.signer.sign(notification), now: World.now)
        #expect(verified.transaction?.appID == "game")
    }

    @Test func `inside and outside must speak of the same app and environment (S13)`() throws {
        let second = AcceptedApp(id: "reader", bundleIDs: ["com.example.reader"])
        var world = try World(apps: [World.app, second])
        var notification = World.notification()
        let changes: [(JSONObject, VerificationFailure.Reason)] = [
            (["bundleId": "com.example.reader"], .appMismatch), (["bundleId": "com.example.none"], .appMismatch),
            (["environment": "Sandbox"], .environmentMismatch), (["environment": "Xcode"], .environmentMismatch),
        ]
        for (change, reason) in changes {
            var transaction = World.transaction()
            transaction.overrides = change
            notification.signedTransactionInfo = Self.text(try world.signer.sign(transaction))
            let failure = world.refusal(notification: try world.signer.sign(notification))
            #expect(failure?.reason == reason)
            #expect(failure?.inside != nil)
        }
    }

    @Test func `each kind of data is accepted only in its own place (S13)`() throws {
        var world = try World()
        let transaction = Self.text(try world.signer.sign(World.transaction()))
        let renewalInfo = Self.text(try world.signer.sign(Self.renewalInfo))
        let outer = try world.signer.sign(World.notification())
        let appTransaction = Self.text(
            try world.signer.sign([
                "receiptType": "Production", "bundleId": .string(World.bundleID), "appAppleId": 1234,
                "receiptCreationDate": .integer(World.now - 1000), "transactionId": "1",
            ]))
        let kinds = [transaction, renewalInfo, Self.text(outer), appTransaction]
        for (index, text) in kinds.enumerated() {
            var notification = World.notification()
            notification.signedTransactionInfo = text
            let asTransaction = world.refusal(notification: try world.signer.sign(notification))
            #expect(asTransaction?.reason == (index == 0 ? nil : .payloadType), "kind \(index) as transaction")
            notification.signedTransactionInfo = nil
            notification.signedRenewalInfo = text
            let asRenewal = world.refusal(notification: try world.signer.sign(notification))
            #expect(asRenewal?.reason == (index == 1 ? nil : .payloadType), "kind \(index) as renewal info")
            if index != 2 {
                #expect(world.refusal(notification: Array(text.utf8))?.reason == .payloadType)
            }
        }
        #expect(world.refusal(Array(renewalInfo.utf8)) == .payloadType)
        #expect(world.refusal(outer) == .payloadType)
        // A notification that calls itself a transaction as well is a notification.
        var both = World.notification()
        both.overrides = ["transactionId": "1", "bundleId": .string(World.bundleID), "environment": "Production"]
        #expect(world.refusal(try world.signer.sign(both)) == .payloadType)
    }

    @Test func `a good notification does not vouch for what is inside (S13)`() throws {
        var world = try World()
        let stranger = TransactionSigner(try SimulatedAuthority.generate())
        var notification = World.notification()
        let mine = Self.text(try world.signer.sign(World.transaction())).split(separator: ".")
        let other = Self.text(try world.signer.sign(World.transaction("7"))).split(separator: ".")
        let forged: [(String, VerificationFailure.Reason)] = [
            (Self.text(try stranger.sign(World.transaction())), .chainUntrusted), ("not.signed.data", .format),
            ("", .format), ("\(mine[0]).\(other[1]).\(mine[2])", .signature),
        ]
        for (text, reason) in forged {
            notification.signedTransactionInfo = text
            let failure = world.refusal(notification: try world.signer.sign(notification))
            #expect(failure?.reason == reason)
            #expect(failure?.inside == "signedTransactionInfo")
        }
    }

    @Test func `renewal info must belong to the transaction next to it (S13)`() throws {
        var world = try World()
        var notification = World.notification("DID_RENEW")
        notification.signedTransactionInfo = Self.text(try world.signer.sign(World.transaction("2000000000000009")))
        notification.signedRenewalInfo = Self.text(try world.signer.sign(Self.renewalInfo))
        let failure = world.refusal(notification: try world.signer.sign(notification))
        #expect(failure?.reason == .payloadField)
        #expect(failure?.inside == "signedRenewalInfo")
    }

    @Test func `the Apple id is compared in Production (S21)`() throws {
        var world = try World()
        var notification = World.notification()
        notification.appAppleID = 1235
        #expect(world.refusal(notification: try world.signer.sign(notification))?.reason == .appMismatch)
        notification.appAppleID = nil
        #expect(world.refusal(notification: try world.signer.sign(notification))?.reason == .appMismatch)
        notification.environment = "Sandbox"
        #expect(world.refusal(notification: try world.signer.sign(notification)) == nil)
    }

    @Test func `types and subtypes nobody knows yet are kept as they are`() throws {
        var world = try World()
        var notification = World.notification("SOMETHING_NEW")
        notification.subtype = "VERY_NEW"
        let verified = try world.verifier.verifyNotification(world.signer.sign(notification), now: World.now)
        #expect(verified.notification.payload.notificationType == "SOMETHING_NEW")
        #expect(verified.notification.payload.subtype == "VERY_NEW")
    }

    @Test func `a notification of a future shape is told apart, so that it can be parked`() throws {
        var world = try World()
        let object: JSONObject = [
            "notificationType": "NEW", "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
            "signedDate": .integer(World.now), "newData": ["bundleId": .string(World.bundleID)],
        ]
        #expect(world.refusal(notification: try world.signer.sign(object))?.reason == .appUnidentified)
    }

    @Test func `a notification may be larger than one transaction, within its own limit (S09)`() throws {
        var world = try World()
        var notification = World.notification()
        notification.overrides = ["padding": .string(String(repeating: "x", count: 80_000))]
        #expect(world.refusal(notification: try world.signer.sign(notification)) == nil)
        notification.overrides = ["padding": .string(String(repeating: "x", count: 256 << 10))]
        #expect(world.refusal(notification: try world.signer.sign(notification))?.reason == .tooLarge)
    }

    @Test(arguments: ["", "not-a-uuid", "002e14d551f54503b5a8c3a1af68eb20"])
    func `the notification's id is a UUID, as it is a key`(uuid: String) throws {
        var world = try World()
        var notification = World.notification()
        notification.uuid = uuid
        #expect(world.refusal(notification: try world.signer.sign(notification))?.reason == .payloadField)
    }
}
