import HTTPClient
import JSON
public import Runtime

/// Posts what the outbox has due, on threads of its own.
public enum NotificationSender {
    /// Between two looks at the outbox when nothing wakes the thread: how long a stop may take to be noticed.
    private static let nap = Duration.seconds(1)

    /// Starts `count` threads; with one, notifications are posted in the order in which they become due.
    ///
    /// - Parameters:
    ///   - timeout: of one post. Apple gives up after some 30 s.
    ///   - report: called on the sending thread with type and result of every post.
    public static func start(
        _ outbox: NotificationOutbox, apps: SimulatedApps, count: Int = 1, timeout: Duration = .seconds(30),
        until stop: StopSignal, report: @escaping @Sendable (SentNotification, String) -> Void = { _, _ in }
    ) -> [NamedThread] {
        stop.onStop { for _ in 0..<count { outbox.wake() } }
        return (0..<max(1, count)).map { index in
            NamedThread.start(name: "notify-\(index)") {
                var configuration = HTTPClient.Configuration()
                configuration.timeout = timeout
                configuration.connectTimeout = min(timeout, .seconds(5))
                guard var client = try? HTTPClient.open(configuration) else { return }
                while !stop.isStopped {
                    guard let notification = outbox.takeDue() else {
                        outbox.waitForWork(atMost: nap)
                        continue
                    }
                    let result = post(notification, apps, &client)
                    report(notification, result)
                    // A full disk: the attempt is made again, as after a crash.
                    try? outbox.finish(notification, result)
                }
            }
        }
    }

    /// Posts once; the answer is Apple's word for how it went.
    private static func post(
        _ notification: SentNotification, _ apps: SimulatedApps, _ client: inout HTTPClient
    ) -> String {
        guard let url = apps[notification.bundleID]?.address(environment: notification.environment) else {
            return "OTHER"
        }
        let body: JSONObject = ["signedPayload": .string(notification.signedPayload)]
        let request = HTTPClientRequest(
            "POST", url,
            headers: [("Content-Type", "application/json"), ("User-Agent", "App Store Server Notifications")],
            body: JSONWriter.write(body))
        do throws(HTTPClientError) {
            let response = try client.send(request)
            // Source: "Responding to App Store Server Notifications".
            return (200...206).contains(response.status) ? "SUCCESS" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        } catch {
            return word(error)
        }
    }

    private static func word(_ error: HTTPClientError) -> String {
        switch error {
        case .timeout: "TIMED_OUT"
        case .tlsFailed: "TLS_ISSUE"
        case .cannotConnect, .privateAddress: "SOCKET_ISSUE"
        case .cannotResolve: "NO_RESPONSE"
        case .transfer: "PREMATURE_CLOSE"
        case .responseTooLarge: "INVALID_RESPONSE"
        case .invalidRequest, .unavailable: "OTHER"
        }
    }
}
