import AppStoreSimulation
import FoundationEssentials
import GameProtocol
import Glibc
import JSON

/// A third app in the same deployment: a Unity game that sends receipts over a WebSocket.
extension DemoStory {
    private static let bundle = "com.ninjafall.game"
    private static let gems = "com.ninjafall.gem_pack_1"
    private static let card = "com.ninjafall.monthly_card"
    private static let day: Int64 = 86_400

    /// The scenes. The app is where apps/game.yaml says, on this machine.
    func playTheGame(_ settings: DrillSettings) throws {
        let base = try settings.value("GATEWAY_URL").replacing("127.0.0.1", with: "game.localhost")
        let token = try settings.gameLogin().tokens().token(anna)
        // Beside the apps' folder: nothing is left outside the deployment's own.
        let file = try settings.value("APPS") + "/../demo-game-\(anna).json"
        defer { unlink(file) }
        let device = GameClient.Settings(
            backend: base, loginToken: token, bundleID: Self.bundle, appleAccount: anna, file: file)
        try sendReceipts(device)
        try extendTheCard(device, try BackendClient(base: base, token: token))
    }

    private func sendReceipts(_ device: GameClient.Settings) throws {
        expectations.scene("17. The game: Unity's receipt over a WebSocket (GET /iap/ws), and a restart in the middle")
        let game = try GameClient(device, store: store)
        let first = try game.pay(Self.gems)
        let second = try game.pay(Self.gems)
        expectations.tell("Apple charges twice: \(first.transactionID), \(second.transactionID)")
        expectations.tell("the game is killed before it sends anything, and started again")
        let restarted = try GameClient(device, store: store)
        expectations.expect("kept by the game", restarted.pendingCount, 2)
        let outcomes = try restarted.checkPendingPurchases()
        expectations.expect("answers to both", outcomes.map(Self.code), [0, 0])
        expectations.expect("diamonds", restarted.shownBalance ?? -1, 120)
        expectations.expect("kept after that", restarted.pendingCount, 0)
        let again = try GameConnection(base: device.backend, token: device.loginToken)
            .ask(.verify(.init(receipt: second.receipt, productID: Self.gems)))
        guard case .verified(let repeated) = again else {
            throw Expectations.Stopped(description: "the gateway answered something else")
        }
        expectations.expect("the same receipt again", repeated.code, 0)
        expectations.expect("delivered by that", repeated.amount, 0)
        expectations.expect("history", try restarted.history().map(\.amount), [60, 60])
    }

    private func extendTheCard(_ device: GameClient.Settings, _ backend: consuming BackendClient) throws {
        expectations.scene("18. A monthly card, and another one while it lasts (GET /iap/entitlements)")
        let game = try GameClient(device, store: store)
        var backend = backend
        expectations.expect("the card", Self.code(try game.buy(Self.card)), 0)
        let one = try until(&backend)
        expectations.expect("a second one", Self.code(try game.buy(Self.card)), 0)
        let two = try until(&backend)
        expectations.tell("the card lasts until \(one), then until \(two)")
        expectations.expect("days added", (try Self.seconds(two) - Self.seconds(one)) / Self.day, 30)
        expectations.expect("diamonds", game.shownBalance ?? -1, 120)
    }

    private func until(_ backend: inout BackendClient) throws -> String {
        let cards = try backend.send("GET", "/iap/entitlements").readEach("entitlements") {
            (card) throws(JSONError) in try card.string("until")
        }
        return cards.first ?? ""
    }

    /// Seconds since 1970 of an RFC 3339 text in UTC.
    private static func seconds(_ text: String) throws -> Int64 {
        // Without the fraction.
        Int64(try Date(String(text.prefix(19)) + "Z", strategy: .iso8601).timeIntervalSince1970)
    }

    private static func code(_ outcome: GameClient.Outcome) -> Int32 {
        switch outcome {
        case .delivered(let answer), .finished(let answer), .kept(let answer): answer.code
        case .unanswered: -1
        }
    }
}
