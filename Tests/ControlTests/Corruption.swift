import Testing

@testable import Control

/// One thing spoiled by hand, and exactly the checks that must find it.
struct Corruption: Sendable, CustomTestStringConvertible {
    let what: String
    let sql: String
    let finds: [String]
    /// A part of the finding's line.
    let line: String

    init(_ what: String, _ sql: String, _ finds: [String], line: String = "") {
        self.what = what
        self.sql = sql
        self.finds = finds
        self.line = line
    }

    var testDescription: String { what }

    private static func customer(_ user: String) -> String {
        "(SELECT customer FROM granting.customers WHERE user_id = '\(user)-canary')"
    }
    private static let alice = customer("alice")
    static let bob = customer("bob")

    static let all =
        wallets + lots + refunds + deliveries + purchases + notifications + subscriptions + told + consumption + facts
        + factTables + reconciliation

    private static let wallets = [
        Corruption(
            "a balance (R28)",
            "UPDATE granting.accounts SET balance = balance + 1 WHERE customer = \(alice) AND asset = 'DANBING'",
            ["wallets.ledger", "wallets.lots"], line: "asset DANBING; balance 721, ledger 720"),
        Corruption(
            "an account that vanished", "DELETE FROM granting.accounts WHERE asset = 'TIME_MINUTES'",
            ["wallets.ledger", "wallets.lots"], line: "balance missing, ledger 27"),
        Corruption(
            "a balance after a line",
            "UPDATE granting.ledger SET balance_after = balance_after + 1 WHERE source_id = '1/0'",
            ["wallets.chain"], line: "61 after 0 and 60"),
        Corruption(
            "an account's revision",
            "UPDATE granting.accounts SET revision = revision + 1 WHERE asset = 'TIME_MINUTES'",
            ["wallets.revision"], line: "revision 4, lines 3"),
        Corruption(
            "a negative balance",
            """
            ALTER TABLE granting.accounts DROP CONSTRAINT accounts_balance_not_negative;
            UPDATE granting.accounts SET balance = -1 WHERE customer = \(bob)
            """, ["wallets.ledger", "wallets.lots", "wallets.negative"], line: "balance -1"),
        Corruption(
            "a line nobody caused",
            """
            INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                environment, cause)
            VALUES (\(bob), 'DANBING', 'OUT', 0, 0, 'APP_USAGE', 'ghost', '', gen_random_uuid());
            UPDATE granting.accounts SET revision = revision + 1 WHERE customer = \(bob)
            """, ["wallets.causes"], line: "APP_USAGE ghost: no cause"),
        Corruption(
            "a line with another cause",
            "UPDATE granting.ledger SET cause = gen_random_uuid() WHERE source_id = '1/0'",
            ["grants.lines", "wallets.causes"], line: "APPLE_IAP 1/0: its cause says otherwise"),
        Corruption(
            "a line that vanished", "DELETE FROM granting.ledger WHERE source_id = 's1'",
            ["spends.lines", "wallets.chain", "wallets.ledger", "wallets.revision"],
            line: "spent 50 of DANBING; line: none"),
    ]

    private static let lots = [
        Corruption(
            "what is left of two lots",
            """
            UPDATE granting.lots SET remaining = remaining - 1 WHERE transaction_id = '4';
            UPDATE granting.lots SET remaining = remaining + 1 WHERE transaction_id = '1'
            """, ["lots.remaining"], line: "500 granted, 0 drawn, 499 left"),
        Corruption(
            "a draw nobody made",
            """
            INSERT INTO granting.draws (lot, kind, source_id, amount)
            SELECT id, 'spend', 'ghost', 1 FROM granting.lots WHERE transaction_id = '4'
            """, ["lots.remaining", "lots.spends"], line: "source_id ghost; asset DANBING; 0 spent, 1 drawn"),
        Corruption(
            "a lot's customer", "UPDATE granting.lots SET customer = \(bob) WHERE transaction_id = '4'",
            ["lots.grants", "wallets.lots"], line: "transaction_id 4"),
        Corruption(
            "a lot that is missing",
            """
            INSERT INTO granting.product_amounts (app, product_id, version, asset, amount)
            VALUES ('cloudpc', 'forever', 1, 'TIME_MINUTES', 5)
            """, ["lots.grants"], line: "asset TIME_MINUTES; nothing, should be 5 for "),
        Corruption(
            "what a spend drew", "UPDATE granting.draws SET source_id = 'elsewhere' WHERE source_id = 's1'",
            ["lots.spends"], line: "source_id s1; asset DANBING; 50 spent, 0 drawn"),
        Corruption(
            "what a sweep drew", "UPDATE granting.draws SET source_id = 'elsewhere' WHERE kind = 'sweep'",
            ["lots.sweeps"], line: "line 60, drawn nothing of no lot"),
        Corruption(
            "a sweep's purchase", "UPDATE granting.grants SET swept_at = NULL WHERE transaction_id = '30'",
            ["wallets.causes"], line: "SANDBOX_SWEEP 30/"),
        Corruption(
            "a spend's decision",
            "UPDATE granting.spends SET outcome = 'not_enough', code = 'X' WHERE source_id = 's1'",
            ["lots.spends", "spends.lines", "wallets.causes"], line: "not_enough 50 of DANBING; line: 50 of DANBING"),
    ]

    private static let refunds = [
        Corruption(
            "the newest statement's share",
            "UPDATE granting.transactions SET revocation_date = 1, revoked_share = 50000 WHERE transaction_id = '1'",
            ["refunds.newest", "refunds.record"], line: "transaction_id 1; share taken 0, newest statement 50000"),
        Corruption(
            "the share of a restored non-consumable's newest statement",
            "UPDATE granting.transactions SET revocation_date = 1, revoked_share = 50000 WHERE transaction_id = '5'",
            ["refunds.newest", "refunds.record"], line: "transaction_id 4; share taken 0, newest statement 50000"),
        Corruption(
            "a debt", "UPDATE granting.debts SET amount = amount + 1", ["refunds.taken"],
            line: "120 should be taken, 20 drawn, 101 owed"),
        Corruption(
            "a debt's debtor", "UPDATE granting.debts SET customer = \(alice)", ["refunds.debts"],
            line: "100 owed, 0 settled, 0 repaid"),
        Corruption(
            "the number of changes of a refund",
            "UPDATE granting.grants SET revision = revision + 1 WHERE transaction_id = '7'",
            ["refunds.lines"], line: "2 change(s), 1 line(s) for revisions 1 to 1"),
        Corruption(
            "what a refund drew",
            "UPDATE granting.draws SET source_id = '7/9' WHERE refunded_transaction = '7'",
            ["refunds.draws"], line: "source_id 7/1; asset DANBING; line 20, drawn 0"),
        Corruption(
            "a refund that drew in another environment",
            "UPDATE granting.draws SET refunded_environment = 'Sandbox' WHERE refunded_transaction = '7'",
            ["refunds.draws", "refunds.environment", "refunds.taken"],
            line: "a lot of Production was drawn for a refund of Sandbox/7"),
        Corruption(
            "the record of a refund", "DELETE FROM granting.refund_statements WHERE transaction_id = '7'",
            ["refunds.record"],
            line: "transaction_id 7; share"),
        Corruption(
            "a repayment that no line tells of",
            """
            INSERT INTO granting.draws (lot, kind, source_id, refunded_environment, refunded_transaction, amount)
            SELECT id, 'repayment', '7/7/0', 'Production', '7', 1 FROM granting.lots WHERE transaction_id = '7'
            """, ["lots.remaining", "refunds.debts", "refunds.repayments", "refunds.taken"],
            line: "source_id 7/7/0; asset DANBING; line 0, drawn 1"),
    ]

    private static let purchases = [
        Corruption(
            "evidence that vanished", "DELETE FROM verification.evidence WHERE transaction_id = '2'",
            ["facts.verified", "purchases.proof"], line: "is no evidence"),
        Corruption(
            "a payload",
            "UPDATE verification.evidence SET payload = payload || 'x' WHERE transaction_id = '2'",
            ["purchases.evidence"], line: "the payload is not the one that was verified"),
        Corruption(
            "a certificate chain", "UPDATE verification.headers SET segment = segment || 'x'", ["purchases.evidence"],
            line: "header 1 is not the one that was verified"),
        Corruption(
            "the reason of a held purchase",
            "UPDATE granting.transactions SET held_reason = NULL WHERE transaction_id = '8'",
            ["purchases.decided"], line: "transaction_id 8; has an owner, and was neither"),
        Corruption(
            "a transaction that vanished",
            """
            DELETE FROM granting.transactions WHERE transaction_id = '10'
            """, ["purchases.seen"], line: "transaction_id 10; verified"),
        Corruption(
            "a statement nobody decided on",
            """
            UPDATE granting.transactions SET signed_date = (SELECT min(signed_date) FROM verification.evidence e
                WHERE e.transaction_id = '7') WHERE transaction_id = '7'
            """, ["purchases.proof", "purchases.seen", "refunds.record"],
            line: "environment Production; transaction_id 7; verified"),
    ]

    private static let notifications = [
        Corruption(
            "the fact of a notification",
            """
            DELETE FROM intake.facts WHERE revision = 0 AND type = 'notification.refund'
            """, ["notifications.facts"], line: "not told"),
        Corruption(
            "a notification that vanished", "DELETE FROM intake.notifications WHERE type = 'TEST'",
            ["notifications.facts"], line: "told, and there is no such notification"),
        Corruption(
            "a re-drive that vanished", "DELETE FROM intake.redrives", ["notifications.redrives"],
            line: "told again, and nobody asked for it"),
        Corruption(
            "how often a notification was told again", "UPDATE intake.notifications SET times_redriven = 5",
            ["notifications.redrives"], line: "times"),
        Corruption(
            "a certificate chain of a notification", "UPDATE intake.headers SET segment = segment || 'x'",
            ["notifications.headers"], line: "is not the one that was verified"),
    ]

    private static let facts: [Corruption] =
        [
            ("purchase.granted", "facts.granted"), ("purchase.clawedback", "facts.clawedback"),
            ("purchase.held", "facts.held"), ("spend.decided", "facts.spends"), ("order.created", "facts.orders"),
            ("catalog.imported", "facts.catalog"), ("risk.flagged", "facts.risk"), ("risk.cleared", "facts.cleared"),
        ].map { type, check in
            Corruption("a vanished fact \(type)", "DELETE FROM granting.facts WHERE type = '\(type)'", [check])
        } + [
            Corruption(
                "a vanished fact purchase.verified",
                """
                DELETE FROM verification.facts f USING verification.evidence e
                WHERE f.cause = e.message AND e.transaction_id = '2'
                """, ["facts.verified"], line: "key Production/2")
        ]
        + [
            ("purchase.granted", "facts.granted"), ("purchase.clawedback", "facts.clawedback"),
            ("purchase.held", "facts.held"), ("spend.decided", "facts.spends"), ("order.created", "facts.orders"),
            ("catalog.imported", "facts.catalog"), ("risk.flagged", "facts.risk"), ("debt.repaid", "facts.repaid"),
            ("risk.cleared", "facts.cleared"),
        ].map { type, check in
            Corruption(
                "a ghost \(type)",
                """
                INSERT INTO granting.facts (id, cause, key, revision, type, version, correlation_id, occurred_at, body)
                VALUES ('00000000-0000-8000-8000-000000000000', gen_random_uuid(), 'Production/99', 0, '\(type)', 1,
                    'x', 0, '{}')
                """, [check, "facts.ids.granting"].sorted(), line: "announced, and ")
        }

    private static let factTables: [Corruption] = AuditCheck.schemas.flatMap { schema in
        [
            Corruption(
                "an id of a fact of \(schema)",
                """
                UPDATE \(schema).facts SET id = gen_random_uuid(), created_at = clock_timestamp()
                WHERE sequence = (SELECT max(sequence) FROM \(schema).facts)
                """, ["facts.ids.\(schema)"], line: "the id is not that of this fact"),
            Corruption(
                "facts of \(schema) that nobody published",
                """
                INSERT INTO \(schema).unannounced (facts, created_at)
                SELECT array_agg(id), now() - interval '1 hour' FROM \(schema).facts
                """, ["facts.unannounced.\(schema)"], line: "fact(s) wait for 36"),
            Corruption(
                "facts of \(schema) that were to be published and do not exist",
                "INSERT INTO \(schema).unannounced (facts) VALUES (ARRAY[gen_random_uuid()])",
                ["facts.unannounced.\(schema)"], line: "names 1 fact(s) that do not exist"),
        ]
    }
}
