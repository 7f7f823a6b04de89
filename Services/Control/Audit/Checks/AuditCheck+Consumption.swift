/// Apple's questions about the use of purchases: each has its clock, and ends in time or with a reason.
extension AuditCheck {
    static let consumption = [consumptionRequests, consumptionEnds, consumptionAttempts]

    private static let asked = Subject("consumption requests") { scope in
        "SELECT count(*) AS count FROM intake.consumption_requests r WHERE \(scope.new("r.stored_at"))"
    }

    private static let consumptionRequests = AuditCheck(
        "consumption.requests",
        "every question of Apple about the use of a purchase has its clock, and only those have one",
        of: asked, keys: ["environment", "notification_uuid"]
    ) { scope in
        """
        SELECT n.environment, n.notification_uuid, 'has no clock' AS problem FROM intake.notifications n
        WHERE n.type = 'CONSUMPTION_REQUEST' AND \(scope.new("n.stored_at")) AND NOT EXISTS (
            SELECT FROM intake.consumption_requests r
            WHERE r.environment = n.environment AND r.notification_uuid = n.notification_uuid)
        UNION ALL
        SELECT r.environment, r.notification_uuid, 'was not asked' FROM intake.consumption_requests r
        WHERE \(scope.new("r.stored_at")) AND NOT EXISTS (SELECT FROM intake.notifications n
            WHERE n.environment = r.environment AND n.notification_uuid = r.notification_uuid
                AND n.type = 'CONSUMPTION_REQUEST')
        """
    }

    /// Five minutes: the longest that a copy which died may hold a request, twice over.
    private static let consumptionEnds = AuditCheck(
        "consumption.ends", "no question of Apple is open beyond its deadline, and what was not answered says why",
        of: asked, keys: ["environment", "notification_uuid"]
    ) { _ in
        """
        SELECT environment, notification_uuid, 'open beyond its deadline: ' || reason AS problem
        FROM intake.consumption_requests
        WHERE state = 'pending' AND deadline < extract(epoch FROM clock_timestamp()) * 1000 - 300000
        UNION ALL
        SELECT environment, notification_uuid, state || ' without a reason' FROM intake.consumption_requests
        WHERE state IN ('refused', 'skipped', 'expired') AND reason IN ('new', 'accepted')
        """
    }

    private static let consumptionAttempts = AuditCheck(
        "consumption.attempts", "what counts as told was told and accepted, and what was accepted counts as told",
        of: Subject("attempts to tell Apple") { _ in "SELECT count(*) AS count FROM intake.consumption_attempts" },
        keys: ["environment", "notification_uuid"]
    ) { scope in
        """
        SELECT r.environment, r.notification_uuid, 'told, and no attempt was accepted' AS problem
        FROM intake.consumption_requests r
        WHERE r.state = 'sent' AND \(scope.new("r.stored_at")) AND NOT EXISTS (
            SELECT FROM intake.consumption_attempts a WHERE a.environment = r.environment
                AND a.notification_uuid = r.notification_uuid AND a.outcome = 'accepted')
        UNION ALL
        SELECT r.environment, r.notification_uuid, 'accepted by Apple, and ' || r.state
        FROM intake.consumption_requests r JOIN intake.consumption_attempts a USING (environment, notification_uuid)
        WHERE a.outcome = 'accepted' AND r.state <> 'sent'
        UNION ALL
        SELECT r.environment, r.notification_uuid, format('%s attempts, counted %s', coalesce(a.count, 0), r.attempts)
        FROM intake.consumption_requests r
        LEFT JOIN (SELECT environment, notification_uuid, count(*) AS count FROM intake.consumption_attempts
            GROUP BY environment, notification_uuid) a USING (environment, notification_uuid)
        WHERE r.attempts <> coalesce(a.count, 0)
        """
    }
}
