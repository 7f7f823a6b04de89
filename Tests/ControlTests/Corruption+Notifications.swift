import Testing

@testable import Control

/// What is spoiled of subscriptions, and of what Apple told.
extension Corruption {
    static let subscriptions = [
        Corruption(
            "a period granted under another's name",
            "UPDATE granting.grants SET web_order_line_item_id = 'z' WHERE transaction_id = '20'",
            ["refunds.newest", "subscriptions.periods"], line: "granted as period of 20 z; it is period of 20 a"),
        Corruption(
            "a transaction of a period that its grant does not deliver",
            "UPDATE granting.transactions SET delivered_by = NULL WHERE transaction_id = '22'",
            ["subscriptions.periods"], line: "transaction_id 22; tells of the period that 21 was granted for"),
        Corruption(
            "the refund of a period's second transaction",
            "UPDATE granting.transactions SET revoked_share = 0 WHERE transaction_id = '22'",
            ["refunds.newest"], line: "transaction_id 21; share taken 40000, newest statement 0"),
        Corruption(
            "a subscription that two customers claimed",
            """
            UPDATE granting.transactions SET is_claimed_by_caller = true,
                owner = (SELECT customer FROM granting.customers WHERE user_id = 'bob-canary') WHERE transaction_id = '21'
            """,
            ["grants.transactions", "subscriptions.owners"],
            line: "original_transaction_id 20; claimed by 2 customers"),
        Corruption(
            "a field of a renewal info", "UPDATE granting.renewals SET auto_renew_status = 0",
            ["subscriptions.renewals"], line: "original_transaction_id 20; the info of "),
        Corruption(
            "an order of what was refunded before",
            "UPDATE granting.transactions SET order_number = NULL WHERE transaction_id = '11'", ["grants.orders"],
            line: "order A3, grant names none, transaction names none"),
        Corruption(
            "a lifting of limits that nobody asked for",
            """
            INSERT INTO granting.risk_clearances (cause, customer, actor, reason)
            SELECT gen_random_uuid(), customer, 'x', 'y' FROM granting.customers WHERE user_id = 'bob-canary'
            """, ["facts.cleared"], line: "not announced"),
    ]

    static let told = [
        Corruption(
            "a renewal info that Granting has not seen", "DELETE FROM granting.renewals", ["notifications.seen"],
            line: "its renewal info is not known"),
        Corruption(
            "the record of a refund that was told",
            "DELETE FROM granting.refund_statements WHERE transaction_id = '22'",
            ["notifications.seen", "refunds.record"], line: "what it says of a refund is not on record"),
        Corruption(
            "a statement of a notification that Granting has not seen",
            """
            UPDATE intake.facts SET body = replace(body, '"signedDate":', '"signedDate":9')
            WHERE type = 'notification.did_renew'
            """, ["notifications.seen", "subscriptions.renewals"], line: "its statement is not known"),
        Corruption(
            "a purchase that its token's owner did not get",
            """
            INSERT INTO granting.tokens (app, token, customer, issued_at)
            SELECT app, '44444444-4444-4444-8444-444444444444', customer, now() - interval '1 day'
            FROM granting.customers WHERE user_id = 'bob-canary';
            UPDATE intake.facts SET type = 'notification.one_time_charge', body = regexp_replace(replace(replace(body,
                '"transactionID":"22"', '"transactionID":"10"'), '"quantity"',
                '"appAccountToken":"44444444-4444-4444-8444-444444444444","quantity"'),
                '"signedDate":[0-9]+', '"signedDate":1', 'g')
            WHERE body LIKE '%"transactionID":"22"%'
            """, ["facts.ids.intake", "notifications.seen"], line: "whoever its token belongs to did not get"),
    ]
}
