/// What Apple told: each notification is passed on once, and again only if somebody asked for it.
///
/// Whether a payload is what Apple signed, every re-drive verifies anew; there is no hash to compare with.
extension AuditCheck {
    static let notifications = [notificationFact, redriveFact, notificationHeaders]

    private static let stored = Subject("notifications") { scope in
        "SELECT count(*) AS count FROM intake.notifications n WHERE \(scope.new("n.stored_at"))"
    }

    /// Besides notifications Intake says which certificates to ask about.
    private static let isNotification = "f.type LIKE 'notification.%'"

    private static let key = "n.environment || '/' || n.notification_uuid"

    private static let notificationFact = AuditCheck(
        "notifications.facts", "every notification was passed on once, and every one that was passed on is stored",
        of: stored, keys: ["key", "message"]
    ) { scope in
        """
        SELECT \(key) AS key, n.message, 'not told' AS problem FROM intake.notifications n
        WHERE \(scope.new("n.stored_at")) AND NOT EXISTS (
            SELECT FROM intake.facts f WHERE \(scope.facts("f.sequence", in: "intake"))
                AND f.cause = n.message AND f.key = \(key) AND f.revision = 0)
        UNION ALL
        SELECT f.key, f.cause, 'told, and there is no such notification' FROM intake.facts f
        WHERE \(isNotification) AND f.revision = 0 AND \(scope.facts("f.sequence", in: "intake")) AND NOT EXISTS (
            SELECT FROM intake.notifications n WHERE \(key) = f.key AND n.message = f.cause)
        """
    }

    private static let redriveFact = AuditCheck(
        "notifications.redrives", "what was told again, somebody asked for, and it is counted",
        of: Subject("re-drives") { scope in
            "SELECT count(*) AS count FROM intake.redrives WHERE \(scope.new("requested_at"))"
        }, keys: ["key"]
    ) { scope in
        """
        SELECT f.key, 'told again, and nobody asked for it' AS problem FROM intake.facts f
        WHERE \(isNotification) AND f.revision > 0 AND \(scope.facts("f.sequence", in: "intake"))
            AND NOT EXISTS (SELECT FROM intake.redrives r WHERE r.message = f.cause AND NOT r.is_dry_run)
        UNION ALL
        SELECT \(key), format('told again %s times, counted %s', coalesce(f.times, 0), n.times_redriven)
        FROM intake.notifications n
        LEFT JOIN (SELECT key, count(*) AS times FROM intake.facts f WHERE \(isNotification) AND revision > 0
            GROUP BY key) f ON f.key = \(key)
        WHERE n.times_redriven <> coalesce(f.times, 0)
        """
    }

    private static let notificationHeaders = AuditCheck(
        "notifications.headers", "every certificate chain of a notification is what was verified, byte by byte",
        of: Subject("certificate chains") { _ in "SELECT count(*) AS count FROM intake.headers" }, keys: ["header"]
    ) { _ in
        """
        SELECT h.id AS header, 'is not the one that was verified' AS problem FROM intake.headers h
        WHERE sha256(convert_to(h.segment, 'UTF8')) <> h.digest
        """
    }
}
