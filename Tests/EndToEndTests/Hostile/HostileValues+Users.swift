import Messages
import Pipeline

/// Commands about users and the sandbox with values that no command line of ours sends.
extension HostileValues {
    private func erase(_ user: String, actor: String = "hostile") -> UserEraseRequested {
        UserEraseRequested(
            app: AppID("cloudpc"), userID: UserID(user), formerIDs: [UserID(user)], actor: actor, reason: "hostile")
    }

    func erasures() throws -> [Example] {
        let unreadable = "message.body_unreadable"
        func evidence(after: Int64, last: Int64, _ erasure: String = UUIDText.random()) -> EvidenceEraseRequested {
            EvidenceEraseRequested(erasure: MessageID(erasure), after: after, last: last)
        }
        return [
            try example("erasure of NUL", Self.notStorable, erase(Self.nul)),
            try example("erasure of a megabyte", unreadable, erase(Self.megabyte)),
            try example("erasure of nobody", unreadable, erase("")),
            try example("going on after the last", nil, evidence(after: .max, last: .max)),
            try example("going on before the first", nil, evidence(after: .min, last: .min)),
            try example("going on with no number", nil, evidence(after: 0, last: 0, "")),
        ]
    }

    func userCommands() throws -> [Example] {
        let number = "00000000-0000-4000-8000-0000000000a1"
        func transfer(_ from: String, _ to: String, _ request: String) -> UserTransferRequested {
            UserTransferRequested(
                app: AppID("hostile"), fromUserID: UserID(from), toUserID: UserID(to), requestID: request,
                actor: "hostile", reason: "hostile")
        }
        func sweep(_ number: String, before: Int64) -> SandboxSweepRequested {
            SandboxSweepRequested(
                app: AppID("hostile"), sweep: number, before: before, after: TransactionID(Self.megabyte),
                actor: "hostile", isDryRun: false)
        }
        let unreadable = "message.body_unreadable"
        return [
            try example("erasure of NUL", Self.notStorable, erase(Self.nul)),
            try example("erasure of a megabyte", unreadable, erase(Self.megabyte)),
            try example("erasure of nobody", unreadable, erase("")),
            try example("erasure by a megabyte", unreadable, erase("hostile-erased", actor: Self.megabyte)),
            try example("transfer of NUL", Self.notStorable, transfer(Self.nul, "hostile-user", number)),
            try example("transfer to oneself", unreadable, transfer("hostile-user", "hostile-user", number)),
            try example("transfer without a number", unreadable, transfer("hostile-guest", "hostile-user", "")),
            try example("sweep before the first day", nil, sweep(number, before: .min)),
            try example("sweep before the last day", nil, sweep(number, before: .max)),
            try example("sweep without a number", unreadable, sweep("", before: 0)),
        ]
    }
}
