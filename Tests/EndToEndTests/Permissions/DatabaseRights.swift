/// What may be done with each table, as people read it. Whatever a row does not name is refused; a table that exists
/// and has no row fails the test: decide its rights, then write them here.
enum DatabaseRights {
    /// `sealed`: nobody changes or deletes what is there, not even the owner; a trigger refuses it (all but `except`).
    /// The auditor reads every table; a service sees no table of another. Everything else belongs to the owner alone,
    /// who must first take the trigger away in a migration to change what is sealed. `view`: for people to read.
    static let tables = """
        # table                         the service of the schema may                        the owner
        granting.accounts               read insert update(balance,revision,spent)
        granting.apple_iap_transactions  view
        granting.assets                 read insert update(json_name,insufficient_code)
        granting.catalog_versions       read insert                                          sealed
        granting.consents               read insert                                          sealed
        granting.customers              read insert update(user_id)
        granting.debts                  read insert update(amount,settled,updated_at)
        granting.draws                  read insert                                          sealed
        granting.facts                  read insert                                          sealed
        granting.former_users           read insert                                          sealed
        granting.grants                 read insert update(revision,applied_share,swept_at)
        granting.identities             read insert delete
        granting.ledger                 read insert                                          sealed
        granting.lots                   read insert update(remaining,is_frozen)
        granting.orders                 read insert update(delivered_environment,delivered_transaction,expires_at)
        granting.points_ledger          view
        granting.product_amounts        read insert                                          sealed
        granting.product_versions       read insert                                          sealed
        granting.refund_statements      read insert update(notification_type,notification_uuid)
        granting.risk_flags             read insert                                          sealed
        granting.restore_key            read                                                 sealed
        granting.restored_customers     read insert delete
        granting.risk_clearances        read insert                                          sealed
        granting.renewals               read insert update(*)
        granting.schema_migrations      read
        granting.spends                 read insert                                          sealed
        granting.starter_claims         read insert update(*)
        granting.sweeps                 read insert                                          sealed
        granting.tokens                 read insert
        granting.transactions           read insert update(*)
        granting.unannounced            read insert delete
        granting.user_commands          read insert update(former_id)                        sealed except(former_id)
        intake.chains                   read insert update(*)
        intake.consumption_attempts     read insert update(ended_at,outcome,http_status,apple_code) sealed except(ended_at,outcome,http_status,apple_code)
        intake.consumption_requests     read insert update(state,reason,next_at,claims,failures,attempts,alerts,ended_at) sealed except(state,reason,next_at,claims,failures,attempts,alerts,ended_at)
        intake.facts                    read insert                                          sealed
        intake.headers                  read insert                                          sealed
        intake.notifications            read insert update(times_received,last_received_at,last_message,times_redriven) sealed except(times_received,last_received_at,last_message,times_redriven)
        intake.quarantine               read insert delete
        intake.redrives                 read insert                                          sealed
        intake.schema_migrations        read
        intake.unannounced              read insert delete
        reconciliation.apple_accounts   read insert update(bought_at,refunds_revision,refunds_at)
        reconciliation.apple_feeds      read insert delete update(attempts,sent_at,next_at)
        reconciliation.apple_histories  read insert update(covered_until)
        reconciliation.apple_slices     read insert delete update(starts_at,token)
        reconciliation.cursors          read update(value,place,updated_at)
        reconciliation.facts            read insert                                          sealed
        reconciliation.finding_events   read insert                                          sealed
        reconciliation.findings         read insert update(severity,state,evidence,seen_at,attempts,next_at,ended_at) sealed except(severity,state,evidence,seen_at,attempts,next_at,ended_at)
        reconciliation.journal          read insert
        reconciliation.journal_position read update(next_offset,updated_at)
        reconciliation.purchases        read insert update(*)
        reconciliation.sales_lines      read insert
        reconciliation.sales_parts      read insert
        reconciliation.sales_reports    read insert update(compared_at)
        reconciliation.run_lines        read insert update(*) delete
        reconciliation.run_requests     read insert update(done_at)
        reconciliation.runs             read insert update(*) delete
        reconciliation.schema_migrations read
        reconciliation.unannounced      read insert delete
        reconciliation.waiting          read insert delete update(next_at)
        verification.chains             read insert update(*)
        verification.erasures           read insert update(user_ids,facts,evidence,done_at)
        verification.evidence           read insert update(submitter)                        sealed except(submitter)
        verification.facts              read insert update(body)                             sealed except(body)
        verification.headers            read insert                                          sealed
        verification.quarantine         read insert update(submitter) delete
        verification.receipt_answers    read insert                                          sealed
        verification.receipt_checks     read insert update(receipt,answer,decided_at) delete
        verification.receipt_purchases  read insert                                          sealed
        verification.redrives           read insert                                          sealed
        verification.receipts           read insert update(submitter)                        sealed except(submitter)
        verification.schema_migrations  read
        verification.unannounced        read insert delete
        """

    /// Roles of services, each called like the schema it works in.
    static let services = ["granting", "intake", "reconciliation", "verification"]
    /// Every role that can log in; `purser_migrator` owns everything.
    static let roles = [
        "purser_migrator", "purser_auditor", "purser_granting", "purser_intake", "purser_reconciliation",
        "purser_verification",
    ]
    /// Functions that run with the owner's rights, and whose they are: months of the journal are tables.
    static func functions(of role: String) -> [String] {
        role == "purser_reconciliation"
            ? ["reconciliation.drop_months(bigint)", "reconciliation.make_month(bigint)"] : []
    }

    /// One row of the table.
    struct Table: Sendable {
        let name: String
        /// Words like `read` and `update(column,…)`.
        let words: [String]
        var schema: String { String(name.prefix { $0 != "." }) }
        var isSealed: Bool { words.contains("sealed") }
        /// Joined from tables: nothing can be written through it.
        var isView: Bool { words.contains("view") }
    }

    /// What can be done with a table.
    enum Action: Hashable, Sendable {
        case read, insert, delete, truncate
        case update(column: String)
    }

    static let rows: [Table] = tables.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        .filter { $0.first != "#" }.map { Table(name: $0[0], words: Array($0.dropFirst())) }

    /// Whether `role` may do it.
    static func may(_ role: String, _ action: Action, _ table: Table) -> Bool {
        if table.isView { return action == .read && ["purser_migrator", "purser_auditor"].contains(role) }
        switch role {
        case "purser_migrator":
            guard table.isSealed else { return true }
            switch action {
            case .update(let column): return columns("except", table).contains(column)
            case .delete, .truncate: return false
            default: return true
            }
        case "purser_auditor": return action == .read
        case "purser_" + table.schema:
            switch action {
            case .read: return table.words.contains("read")
            case .insert: return table.words.contains("insert")
            case .delete: return table.words.contains("delete")
            case .update(let column): return columns("update", table).contains { $0 == "*" || $0 == column }
            case .truncate: return false
            }
        default: return false
        }
    }

    /// The columns in the brackets behind a word.
    private static func columns(_ word: String, _ table: Table) -> [String] {
        table.words.filter { $0.hasPrefix(word + "(") }.flatMap {
            $0.dropFirst(word.count + 1).dropLast().split(separator: ",").map(String.init)
        }
    }
}
