import AppStoreSimulation
import Crypto
import HTTPClient
import JSON
import Pipeline
import Postgres
import TestSupport

/// What Apple would send, signed by the authority of the deployment's stand-in.
extension Deployment {
    /// A notification, signed now. The app's Apple id is the one of apps/cloudpc.yaml.
    func notification(
        _ type: String, uuid: String = UUIDText.random(), transaction: String? = nil,
        environment: String = "Production", bundleID: String = Deployment.bundleID
    ) throws -> String {
        let authority = try SimulatedAuthority.load(from: folder + "/store")
        let notification = SimulatedNotification(
            type: type, uuid: uuid, bundleID: bundleID, appAppleID: environment == "Production" ? try appleID : nil,
            environment: environment, signedDate: WallClock.milliseconds - 1_000, signedTransactionInfo: transaction)
        let signed = String(decoding: try TransactionSigner(authority).sign(notification), as: UTF8.self)
        Canaries.register(signed: signed, kind: "a signed notification")
        return signed
    }

    private var appleID: Int64? {
        get throws {
            let lines = TextFiles.read(folder + "/apps/cloudpc.yaml").split(separator: "\n")
            let line = lines.first { $0.hasPrefix("appAppleId:") }
            return line.flatMap { Int64($0.dropFirst("appAppleId:".count).prefix { $0 != "#" }.filter(\.isNumber)) }
        }
    }

    /// Sends it to one of our addresses as Apple does; the status.
    func send(_ signedPayload: String, to path: String = "/apple/iap/notifications") throws -> Int {
        let body: JSONObject = ["signedPayload": .string(signedPayload)]
        return try sendNotification(JSONWriter.write(body), to: path).status
    }

    /// Sends any body to one of our addresses.
    func sendNotification(_ body: [UInt8], to path: String = "/apple/iap/notifications") throws -> HTTPClientResponse {
        var client = try HTTPClient.open()
        return try client.send(
            HTTPClientRequest(
                "POST", gateway + path, headers: [("Content-Type", "application/json")], body: body))
    }

    /// How often a notification was stored, and how often it came.
    func arrivals(_ uuid: String) throws -> (rows: Int64, times: Int64) {
        let books = Books(deployment: self)
        return (
            try books.number(
                "SELECT count(*) FROM intake.notifications WHERE notification_uuid::text = $1", [.text(uuid)]),
            try books.number(
                "SELECT coalesce(sum(times_received), 0)::bigint FROM intake.notifications WHERE notification_uuid::text = $1",
                [.text(uuid)])
        )
    }

    /// Facts about notifications.
    func tellings(_ uuid: String) throws -> Int64 {
        try Books(deployment: self).number("SELECT count(*) FROM intake.facts WHERE key LIKE '%/' || $1", [.text(uuid)])
    }

    /// Apple knows the app: it tells what happens there, and may be asked. For deployments whose Reconciliation asks.
    func connectToApple() throws {
        try store().register(
            SimulatedApp(
                bundleID: Self.bundleID, appAppleID: 1_234_567_890,
                notificationURL: gateway + "/apple/iap/notifications",
                publicKey: try secrets.appStoreKey.publicKey().pemRepresentation()))
        // Until now Apple did not know the key, which is a finding. A new process asks at once, not after a pause.
        let books = Books(deployment: self)
        guard stop(.reconciliation) == .exit(0) else {
            throw Places.Missing(description: "reconciliation did not end well")
        }
        try start([.reconciliation])
        try eventually(within: .seconds(90), "Apple can be asked") {
            try books.number("SELECT count(*) FROM reconciliation.apple_histories", []) >= 1
                && books.number(
                    """
                    SELECT count(*) FROM reconciliation.findings
                    WHERE kind = 'apple_unreachable' AND state <> 'resolved'
                    """, []) == 0
        }
    }
}
