import Messages

/// What Intake told Granting, and what must be seen of it there.
///
/// Granting keeps no list of notifications. It keeps what they do: the newest statement of each transaction, every
/// statement about a refund, the newest renewal info of each subscription, and whose a purchase is. Each told
/// notification is compared with those, so every effect is proven, and nothing has to be written for the proof.
extension AuditCheck {
    /// Types that speak of no purchase: Granting takes nothing from their transaction. As its decisions say.
    static let withoutPurchase: [AppleNotificationType] = [
        .test, .renewalExtension, .externalPurchaseToken, .rescindConsent,
    ]
    /// Types whose statement is kept on record as one about a refund.
    static let aboutRefunds: [AppleNotificationType] = [.refund, .refundReversed, .refundDeclined, .revoke]
    /// Types that deliver a purchase to the customer whose token it carries.
    static let delivering: [AppleNotificationType] = [
        .oneTimeCharge, .subscribed, .didRenew, .offerRedeemed, .didChangeRenewalPref, .renewalExtended,
        .refundReversed,
    ]

    /// Texts of SQL: the types as messages are called. `notification.unrecognised` is none of them, whatever Apple's type:
    /// what no version knew has no effect until it is told again.
    private static func messages(_ types: [AppleNotificationType]) -> String {
        types.map { "'\(MessageType.notification($0.rawValue).rawValue)'" }.joined(separator: ", ")
    }

    /// Every fact of a notification of a known type with what it says of a transaction and of a renewal, each body read
    /// once.
    static func told(_ scope: AuditScope) -> String {
        """
        SELECT f.id, f.type, f.app, f.environment, f.created_at, b."notificationUUID" AS notification_uuid,
            s."transactionID" AS transaction_id, s."signedDate" AS signed_date, s."payloadHash" AS payload_hash,
            s."appAccountToken" AS token, r."originalTransactionID" AS subscription, r."signedDate" AS renewal_date,
            r."payloadHash" AS renewal_hash, r."productID" AS product_id,
            r."autoRenewProductID" AS auto_renew_product_id, r."autoRenewStatus" AS auto_renew_status,
            r."expirationIntent" AS expiration_intent, r."isInBillingRetryPeriod" AS is_in_billing_retry,
            r."gracePeriodExpiresDate" AS grace_period_expires_date, r."renewalDate" AS next_renewal_date
        FROM intake.facts f
        CROSS JOIN LATERAL json_to_record(f.body::json)
            AS b ("notificationUUID" text, transaction json, renewal json)
        LEFT JOIN LATERAL json_to_record(b.transaction)
            AS s ("transactionID" text, "signedDate" bigint, "payloadHash" text, "appAccountToken" text) ON true
        LEFT JOIN LATERAL json_to_record(b.renewal)
            AS r ("originalTransactionID" text, "signedDate" bigint, "payloadHash" text, "productID" text,
                "autoRenewProductID" text, "autoRenewStatus" bigint, "expirationIntent" bigint,
                "isInBillingRetryPeriod" boolean, "gracePeriodExpiresDate" bigint, "renewalDate" bigint) ON true
        WHERE f.type IN (\(messages(AppleNotificationType.allCases))) AND \(scope.facts("f.sequence", in: "intake"))
        """
    }

    /// Notifications that were told and of which Granting has not seen something, older than the grace.
    static let notificationsSeen = SightCheck(
        "notifications.seen", "whatever Apple told of purchases, refunds and renewals is in Granting's books",
        of: "told notification(s)", verb: "told", keys: ["environment", "notification_uuid", "transaction_id"],
        queue: Topology.grantingNotifications
    ) { scope, grace in
        """
        SELECT environment, notification_uuid, transaction_id, id AS message, created_at AS at, problem
        FROM (SELECT f.*, CASE
                WHEN f.transaction_id IS NOT NULL AND f.type NOT IN (\(messages(withoutPurchase)))
                    AND (t.signed_date IS NULL OR t.signed_date < f.signed_date) THEN 'its statement is not known'
                WHEN f.transaction_id IS NOT NULL AND f.type IN (\(messages(aboutRefunds)))
                    AND d.cause IS NULL THEN 'what it says of a refund is not on record'
                WHEN f.type IN (\(messages(delivering))) AND k.issued_at < f.created_at AND t.owner IS NULL
                    AND t.held_reason IS NULL THEN 'whoever its token belongs to did not get the purchase'
                WHEN f.subscription IS NOT NULL AND (w.signed_date IS NULL OR w.signed_date < f.renewal_date)
                    THEN 'its renewal info is not known'
                END AS problem
            FROM (\(told(scope))) AS f
            LEFT JOIN granting.transactions t
                ON t.environment = f.environment AND t.transaction_id = f.transaction_id
            LEFT JOIN granting.refund_statements d ON d.environment = f.environment
                AND d.transaction_id = f.transaction_id AND d.signed_date = f.signed_date
                AND d.payload_hash = f.payload_hash
            LEFT JOIN granting.renewals w
                ON w.environment = f.environment AND w.original_transaction_id = f.subscription
            LEFT JOIN granting.tokens k ON k.app = f.app AND k.token::text = lower(f.token)) AS f
        WHERE problem IS NOT NULL AND created_at < clock_timestamp() - make_interval(secs => \(grace))
            AND id NOT IN (SELECT unnest(u.facts) FROM intake.unannounced u)
        """
    }
}
