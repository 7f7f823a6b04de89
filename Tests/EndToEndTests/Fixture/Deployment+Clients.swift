import AppStoreSimulation
import JSON
import Messages
import TestSupport

/// Those who call.
extension Deployment {
    private func tokens(_ issuer: String, _ audience: String, _ key: String, _ id: String) throws -> LoginTokens {
        try LoginTokens(issuer: issuer, audience: audience, secret: Array(key.utf8), keyID: id)
    }

    /// A login token.
    func loginToken(_ user: String) throws -> String {
        let token = try tokens("https://login.cloudpc.example", "cloudpc", secrets.loginKey, "login-1").token(user)
        Canaries.register(signed: token, kind: "a login token")
        return token
    }

    /// The API for a user.
    func backend(_ user: String) throws -> BackendClient {
        try BackendClient(base: gateway, token: try loginToken(user))
    }

    /// The API of the points app for a user with an address.
    func pointsBackend(_ user: String, email: String?) throws -> BackendClient {
        let token = try tokens("https://login.points.example", "points", secrets.loginKey, "login-1")
            .token(user, email: email)
        Canaries.register(signed: token, kind: "a login token")
        if let email { Canaries.register("an e-mail address", [email]) }
        return try BackendClient(base: "http://points.localhost:\(port("gateway"))", token: token)
    }

    /// A login token of the game's.
    func gameToken(_ user: String) throws -> String {
        let token = try tokens("https://login.game.example", "game", secrets.loginKey, "login-1").token(user)
        Canaries.register(signed: token, kind: "a login token")
        return token
    }

    /// Where the game calls.
    var gameGateway: String { "http://game.localhost:\(port("gateway"))" }
    /// The game's bundle id in apps/game.yaml.
    static let gameBundle = "com.ninjafall.game"

    /// The game on a device of `user`; started again with the same user it remembers what it knew.
    func game(
        _ user: String, account: String? = nil, environment: String = "Production",
        wait: @escaping (Duration) -> Void = { _ in }
    ) throws -> GameClient {
        let settings = GameClient.Settings(
            backend: gameGateway, loginToken: try gameToken(user), bundleID: Self.gameBundle,
            appleAccount: account ?? user, environment: environment, file: "\(folder)/game-\(user).json")
        return try GameClient(settings, store: try store(), wait: wait)
    }

    /// The game's JSON calls for a user.
    func gameBackend(_ user: String) throws -> BackendClient {
        try BackendClient(base: gameGateway, token: try gameToken(user))
    }

    /// A token of the app's own server.
    func serverToken() throws -> String {
        let tokens = try tokens(
            "https://services.cloudpc.example", "cloudpc-services", secrets.serviceKey, "services-1")
        let token = try tokens.token("cloud-pc")
        Canaries.register(signed: token, kind: "a server's token")
        return token
    }

    /// The API for the app's own server.
    func serverBackend() throws -> BackendClient { try BackendClient(base: gateway, token: try serverToken()) }

    /// The simulated App Store.
    func store() throws -> RemoteStore { try RemoteStore(base: simulator) }

    /// The app on a device of `user`; started again with the same user it remembers what it knew.
    func device(
        _ user: String, environment: String = "Production", gateway: String? = nil, maximumAttempts: Int = 5
    ) throws -> StoreKitClient {
        var settings = StoreKitClient.Settings(
            backend: gateway ?? self.gateway, loginToken: try loginToken(user), bundleID: Self.bundleID,
            appleAccount: user, environment: environment, file: "\(folder)/device-\(user).json")
        settings.maximumAttempts = maximumAttempts
        return try StoreKitClient(settings, store: try store())
    }

    /// A purchase at the store with a given token, not submitted.
    func purchase(
        _ product: String, account: String, token: String? = nil, environment: String = "Production",
        bundleID: String = Deployment.bundleID, fields: JSONObject = [:]
    ) throws -> SignedPurchase {
        let request = PurchaseRequest(
            bundleID: bundleID, productID: product, appleAccount: account, appAccountToken: token,
            environment: environment, fields: fields)
        guard case .purchased(let purchase) = try store().purchase(request) else {
            throw Places.Missing(description: "the store waits for approval nobody asked for")
        }
        Canaries.register(signed: purchase.signedTransactionInfo, kind: "a signed transaction")
        if let token { Canaries.register("an appAccountToken", [token]) }
        return purchase
    }
}

extension Deployment {
    /// Messages in a queue, by the broker's own count.
    func messages(in queue: String) throws -> Int {
        let listed = try Command.run(
            platform.controlScript, ["--silent", "list_queues", "-p", virtualHost, "name", "messages"])
        for line in listed.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            if words.count == 2, words[0] == queue, let count = Int(words[1]) { return count }
        }
        throw Places.Missing(description: "no queue \(queue) in \(listed)")
    }
}

extension Deployment {
    /// Empties a queue by hand.
    func purge(_ queue: Topology.Queue) throws {
        _ = try Command.run(platform.controlScript, ["purge_queue", "-p", virtualHost, queue.name])
    }
}
