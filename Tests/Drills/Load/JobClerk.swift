import AppStoreSimulation
import JSON

/// Makes the calls of a pool over one connection and records every answer. For one thread.
struct JobClerk: ~Copyable {
    /// What the drill knows.
    let record: Record
    /// Login tokens by user.
    let tokens: [String: String]
    /// The token of the server that asks for spends.
    let serverToken: String
    /// The backend.
    var caller: Caller
    /// The store.
    let store: RemoteStore

    /// Makes a call. Returns when to make it again, nil if it is answered for good.
    mutating func make(_ job: JobPool.Job) -> Duration? {
        switch job {
        case .submit(let user, let transactionID, let evidence, let order):
            var body: JSONObject = ["signedTransactionInfo": .string(evidence)]
            if let order { body.set("orderNo", .string(order)) }
            let path = "/api/iap/apple/" + (order == nil ? "verify-without-order" : "verify")
            record.submitted(transactionID)
            switch caller.post(path, body, token: tokens[user] ?? "") {
            case .later(let pause): return pause
            case .success(let body): delivered(transactionID, body)
            case .refused(_, "TRANSACTION_ALREADY_REVOKED", _) where record.mayBeRevoked(transactionID):
                finish(transactionID)
            case .refused(let status, let code, _):
                record.anomaly("a paid purchase was refused: \(transactionID): \(status) \(code)")
            }
        case .spend(let id, let deadline):
            guard let spend = record.spends[id] else { return nil }
            let body: JSONObject = [
                "userId": .string(spend.user), "assetType": .string(spend.asset), "amount": .integer(spend.amount),
                "sourceId": .string(id), "deadline": .string(deadline),
            ]
            switch caller.post("/api/wallet/consume", body, token: serverToken) {
            case .later(let pause): return pause
            case .success(let body):
                decided(id, body["status"]?.stringValue ?? "", body)
            case .refused(let status, let code, let body):
                if ![409, 422].contains(status) { record.anomaly("a spend was answered \(status) \(code)") }
                decided(id, code, body)
            }
        }
        return nil
    }

    private func delivered(_ transactionID: String, _ body: JSONObject) {
        let status = body["status"]?.stringValue ?? ""
        guard ["GRANTED", "ALREADY_GRANTED"].contains(status), body["transactionId"]?.stringValue == transactionID
        else {
            record.anomaly("a purchase was answered with \(status) of another or no transaction: \(transactionID)")
            return
        }
        if record.answered(transactionID, status) { finish(transactionID) }
    }

    private func finish(_ transactionID: String) {
        // A store that does not answer tells of it again at the next restart.
        do {
            try store.finish(transactionID, environment: "Production")
            record.finished(transactionID)
        } catch {}
    }

    private func decided(_ id: String, _ code: String, _ body: JSONObject) {
        record.decided(id, Record.Decision(code: code, balanceAfter: body["balanceAfter"]?.intValue))
    }
}
