/// One frame of the protocol, copied out of the library's memory.
enum Frame: Sendable, Equatable {
    case method(Method)
    case header(bodySize: UInt64, MessageProperties)
    case body([UInt8])
}

/// The methods a broker sends that matter to a client with one channel (AMQP 0-9-1 with RabbitMQ's extensions).
enum Method: Sendable, Equatable {
    case deliver(tag: UInt64, isRedelivered: Bool, exchange: String, routingKey: String)
    case returned(code: Int, text: String, exchange: String, routingKey: String)
    case acknowledged(tag: UInt64, isMultiple: Bool)
    case rejected(tag: UInt64, isMultiple: Bool)
    /// The broker ended a subscription; only sent to clients that announce `consumer_cancel_notify`.
    case consumerCancelled(consumerTag: String)
    case blocked
    case unblocked
    case channelClose(code: Int, text: String)
    case connectionClose(code: Int, text: String)
    case reply(Reply)
    case other(number: UInt32)
}

/// The answers to requests.
enum Reply: Sendable, Equatable {
    case channelOpened
    case confirmsSelected
    case prefetchSet
    case consuming
    case consumingEnded
    case exchangeDeclared
    case exchangeDeleted
    case queueDeclared(messages: Int, consumers: Int)
    case queueBound
    case queueDeleted
    case connectionClosed
}

/// What a client sends besides messages.
enum Request: Sendable, Equatable {
    case openChannel
    case selectConfirms
    case setPrefetch(Int)
    case consume(queue: String, consumerTag: String, arguments: [String: AMQPHeaderValue])
    case endConsuming(consumerTag: String)
    case acknowledge(tag: UInt64, isMultiple: Bool)
    case declareExchange(name: String, kind: String, isPassive: Bool)
    case deleteExchange(name: String)
    case declareQueue(QueueDeclaration)
    case bindQueue(name: String, exchange: String, routingKey: String)
    case deleteQueue(name: String)
    case closeConnection
    case confirmConnectionClose
    case confirmChannelClose
}

/// How a queue is declared; with `isPassive` only looked at.
struct QueueDeclaration: Sendable, Equatable {
    var name: String
    var isPassive = false
    var isDurable = true
    var isExclusive = false
    var isAutoDelete = false
    var arguments: [String: AMQPHeaderValue] = [:]
}
