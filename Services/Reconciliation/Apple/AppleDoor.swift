import AppStoreServerAPI
import Messages
import Runtime
import ServerAPIAccess

/// What Apple is asked. Belongs to one thread; blocks until Apple has answered.
protocol AppleDoor: AnyObject {
    /// From now on these keys are used.
    func replace(_ access: AppStoreAccess)
    /// A page of what Apple has told an app's server.
    func notifications(
        _ place: ServerAPIClients.Place, _ query: NotificationHistoryQuery, token: String?
    ) throws(ServerAPIError) -> NotificationPage
    /// A page of what was refunded to the buyer of a purchase.
    func refunds(
        _ place: ServerAPIClients.Place, of transaction: TransactionID, revision: String?
    ) throws(ServerAPIError) -> TransactionPage
}

/// Apple's Server API.
final class ServerAPIDoor: AppleDoor {
    /// One call at most (s): a service has to end within ten, and a call that took longer is made again.
    private static let callLimit = Duration.seconds(8)
    /// How long a call may wait for the app's rate: there is time, and the Sandbox allows one call in two seconds.
    private static let patience = Duration.seconds(5)

    private let clients: ServerAPIClients

    init(_ access: AppStoreAccess, _ settings: ServerAPISettings, stop: StopSignal) {
        clients = ServerAPIClients(
            access, settings, callLimit: Self.callLimit, patience: Self.patience, stop: stop)
    }

    func replace(_ access: AppStoreAccess) { clients.replace(access) }

    func notifications(
        _ place: ServerAPIClients.Place, _ query: NotificationHistoryQuery, token: String?
    ) throws(ServerAPIError) -> NotificationPage {
        try clients.call(place) { api throws(ServerAPIError) in
            try api.notificationHistory(query, paginationToken: token)
        }
    }

    func refunds(
        _ place: ServerAPIClients.Place, of transaction: TransactionID, revision: String?
    ) throws(ServerAPIError) -> TransactionPage {
        try clients.call(place) { api throws(ServerAPIError) in
            try api.refundHistory(transaction.rawValue, revision: revision)
        }
    }
}
