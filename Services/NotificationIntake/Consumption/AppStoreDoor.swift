import AppStoreServerAPI
import Messages
import Reloading
import Runtime
import ServerAPIAccess

/// Where Apple is told. Belongs to one thread.
protocol AppStoreDoor: AnyObject {
    /// What keeps an app from being spoken for at all; nil: nothing.
    func obstacle(of app: AppID) -> ConsumptionReason?
    /// Tells Apple; blocks until it has answered.
    func send(_ answer: ConsumptionAnswer, for request: ConsumptionRequestRow) throws(ServerAPIError)
}

/// Apple's Server API.
final class ServerAPIDoor: AppStoreDoor {
    /// One call at most (s). A service has to end within ten seconds, and a call that took longer is made again.
    private static let callLimit = Duration.seconds(8)

    private var follower: Follower<IntakeApps>
    private let clients: ServerAPIClients

    init(_ apps: Live<IntakeApps>, _ settings: ServerAPISettings, stop: StopSignal) {
        follower = Follower(apps)
        clients = ServerAPIClients(apps.value.access, settings, callLimit: Self.callLimit, stop: stop)
    }

    func obstacle(of app: AppID) -> ConsumptionReason? {
        // Asked before each answer: with new keys nothing of the old ones is used.
        if let apps = follower.changed() { clients.replace(apps.access) }
        return switch clients.entry(of: app) {
        case .key: nil
        case .some(.unusable), .some(.none): .noKey
        case nil: .unknownApp
        }
    }

    func send(_ answer: ConsumptionAnswer, for request: ConsumptionRequestRow) throws(ServerAPIError) {
        let place = ServerAPIClients.Place(
            app: request.app, environment: request.environment, bundleID: request.bundleID)
        try clients.call(place) { api throws(ServerAPIError) in
            switch answer {
            case .current(let body): try api.sendConsumption(body, of: request.transactionID.rawValue)
            case .older(let body): try api.sendConsumption(body, of: request.transactionID.rawValue)
            }
        }
    }
}
