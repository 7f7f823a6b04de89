import Messages

/// Who may do what at the broker, as people read it. Whatever a row does not name is refused; an exchange, queue or
/// message type that exists and has no row fails the test: decide its rights, then write them here.
enum BrokerRights {
    /// Words may hold `{a,b}`, each of them; `*` at the end stands for anything.
    static let says = """
        # user         exchange                  routing keys
        gateway        purser.from.gateway       purchase.submitted {order,token,spend}.requested
        gateway        purser.from.gateway       notification.received
        gateway        purser.from.gateway       {catalog,balance,ledger,transaction,history}.requested
        gateway        purser.from.gateway       entitlements.requested consent.{change.requested,requested}
        verification   purser.from.verification  purchase.verified chain.{check.requested,checked}
        verification   purser.from.verification  {evidence.erase,receipt.check}.requested
        verification   purser.retry              {5s,30s,5m,1h}.verification.{purchases,revocations,commands}
        verification   purser.retry              {5s,30s,5m,1h}.verification.receipts
        verification   purser.parked             verification.{purchases,revocations,commands,receipts}
        verification   purser.replies            *
        granting       purser.from.granting      purchase.{granted,held,noted,frozen,clawedback} order.created
        granting       purser.from.granting      spend.decided token.issued consent.changed
        granting       purser.from.granting      catalog.imported purchase.redrive.requested
        granting       purser.from.granting      debt.repaid risk.{flagged,cleared}
        granting       purser.from.granting      user.{erased,transferred} sandbox.swept
        granting       purser.retry              {5s,30s,5m,1h}.granting.{purchases,wallet,commands,notifications}
        granting       purser.parked             granting.{purchases,wallet,commands,notifications}
        granting       purser.replies            *
        intake         purser.from.intake        notification.{subscribed,did_change_renewal_pref,expired,refund}
        intake         purser.from.intake        notification.{did_change_renewal_status,offer_redeemed,did_renew}
        intake         purser.from.intake        notification.{did_fail_to_renew,grace_period_expired,price_increase}
        intake         purser.from.intake        notification.{refund_declined,consumption_request,renewal_extended}
        intake         purser.from.intake        notification.{revoke,test,renewal_extension,refund_reversed}
        intake         purser.from.intake        notification.{external_purchase_token,one_time_charge,migration}
        intake         purser.from.intake        notification.{rescind_consent,metadata_update,price_change}
        intake         purser.from.intake        notification.unrecognised chain.check.requested
        intake         purser.from.intake        consumption.assessment.requested
        intake         purser.retry              {5s,30s,5m,1h}.intake.{notifications,commands,revocations}
        intake         purser.parked             intake.{notifications,commands,revocations}
        intake         purser.replies            *
        control        purser.from.control       catalog.{import.requested,requested} notification.redrive.requested
        reconciliation purser.from.reconciliation evidence.{page,redrive}.requested purchase.states.requested
        reconciliation purser.from.reconciliation books.page.requested
        reconciliation purser.from.reconciliation notification.{states.requested,received,redrive.requested}
        reconciliation purser.from.reconciliation chains.requested consumption.deadlines.requested
        reconciliation purser.from.reconciliation transaction.received
        reconciliation purser.retry              {5s,30s,5m,1h}.reconciliation.commands
        reconciliation purser.parked             reconciliation.commands
        reconciliation purser.replies            *
        control        purser.from.control       risk.clear.requested
        control        purser.from.control       regrant.requested finding.{accept,redrive}.requested sales.import.requested
        control        purser.from.control       reconciliation.run.requested apple.order.requested
        control        purser.from.control       user.{erase,transfer}.requested sandbox.sweep.requested
        control        purser.retry              5s.verification.purchases 5s.granting.{purchases,wallet,commands}
        control        purser.retry              5s.granting.notifications 5s.intake.{notifications,commands}
        control        purser.retry              5s.{verification,intake}.revocations 5s.verification.commands
        control        purser.retry              5s.verification.receipts
        control        purser.retry              5s.reconciliation.commands
        # nobody: purser.return, the default exchange, amq.*, another's purser.from.…
        """

    /// `a|b` is both. Reading is consuming, fetching and purging. Who makes a queue may delete it, and bind it to `purser.replies`
    /// only.
    static let reads = """
        # queue                                 read by       made by
        verification.{purchases,revocations}    verification  -
        verification.{commands,queries}         verification  -
        verification.commands.parked            control       -
        reconciliation.{commands,lookups}       reconciliation -
        reconciliation.commands.parked          control       -
        verification.purchases.parked           control       -
        verification.revocations.parked         control       -
        verification.receipts                   verification  -
        verification.receipts.parked            control       -
        granting.{purchases,wallet,commands}    granting      -
        granting.notifications                  granting      -
        granting.purchases.parked               control       -
        granting.wallet.parked                  control       -
        granting.commands.parked                control       -
        granting.notifications.parked           control       -
        granting.queries                        granting      -
        intake.{notifications,commands}         intake        -
        intake.{revocations,queries}            intake        -
        intake.revocations.parked               control       -
        intake.notifications.parked             control       -
        intake.commands.parked                  control       -
        retry.{5s,30s,5m,1h}                    -             -
        purser.facts                            granting|reconciliation -
        gateway.replies.*                       gateway       gateway
        intake.replies.*                        intake        intake
        reconciliation.replies.*                reconciliation reconciliation
        control.replies.*                       control       control
        """

    /// The queues that what a user says can reach at most, whatever it makes for itself; its own ones are not counted.
    /// `control` replays, so it reaches every queue: its password is worth as much as the database's.
    static let reaches = """
        # user         queues
        gateway        verification.purchases granting.wallet granting.queries intake.notifications
        verification   granting.purchases retry.* verification.* granting.* intake.* reconciliation.*
        granting       granting.* verification.* intake.* reconciliation.* retry.* purser.facts
        intake         granting.* verification.* intake.* reconciliation.* retry.*
        reconciliation granting.* verification.* intake.* reconciliation.* retry.*
        control        granting.* verification.* intake.* reconciliation.* retry.*
        """

    static let users = ["gateway", "verification", "granting", "intake", "reconciliation", "control"]
    /// The users that may make queues, of names that begin with theirs.
    static let askers = ["gateway", "intake", "reconciliation", "control"]

    static func maySay(_ user: String, _ exchange: String, _ key: String) -> Bool {
        rows(says).contains { row in
            row[0] == user && row[1] == exchange && row.dropFirst(2).contains { matches(key, $0) }
        }
    }

    static func mayRead(_ user: String, _ queue: String) -> Bool {
        column(1, queue)?.split(separator: "|").contains { $0 == user } ?? false
    }
    static func mayMake(_ user: String, _ queue: String) -> Bool { column(2, queue) == user }
    static func isListed(queue: String) -> Bool { column(1, queue) != nil }
    static func mayReach(_ user: String, _ queue: String) -> Bool {
        rows(reaches).contains { $0[0] == user && $0.dropFirst().contains { matches(queue, $0) } }
    }

    /// All routing keys that stand in the table.
    static var keys: Set<String> { Set(rows(says).flatMap { $0.dropFirst(2) }.filter { $0 != "*" }) }
    static var exchanges: Set<String> { Set(rows(says).map { $0[1] }) }
    static var queues: [String] { rows(reads).map { $0[0] } }

    private static func column(_ index: Int, _ queue: String) -> String? {
        rows(reads).first { matches(queue, $0[0]) }.map { $0[index] }
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        pattern.hasSuffix("*") ? text.hasPrefix(pattern.dropLast()) : text == pattern
    }

    /// The rows of a table, words of braces written out: in the first column as rows of their own.
    private static func rows(_ table: String) -> [[String]] {
        table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            .filter { $0.first != "#" && !$0.isEmpty }
            .flatMap { row in
                expanded(row[0]).map { first in [first] + row.dropFirst().flatMap(expanded) }
            }
    }

    private static func expanded(_ word: String) -> [String] {
        guard let open = word.firstIndex(of: "{"), let close = word[open...].firstIndex(of: "}") else { return [word] }
        let choices = word[word.index(after: open)..<close].split(separator: ",")
        let rest = expanded(String(word[word.index(after: close)...]))
        return choices.flatMap { choice in rest.map { word[..<open] + choice + $0 } }.map { String($0) }
    }
}
