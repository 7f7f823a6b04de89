/// The numbers of the methods Purser sends and reads: class id in the upper, method id in the lower 16 bits
/// (AMQP 0-9-1 XML specification). The library's own constants are macros Swift cannot import.
enum MethodNumber: UInt32 {
    case connectionClose = 0x000A_0032
    case connectionCloseOk = 0x000A_0033
    case connectionBlocked = 0x000A_003C
    case connectionUnblocked = 0x000A_003D
    case channelOpen = 0x0014_000A
    case channelOpenOk = 0x0014_000B
    case channelClose = 0x0014_0028
    case channelCloseOk = 0x0014_0029
    case exchangeDeclare = 0x0028_000A
    case exchangeDeclareOk = 0x0028_000B
    case exchangeDelete = 0x0028_0014
    case exchangeDeleteOk = 0x0028_0015
    case queueDeclare = 0x0032_000A
    case queueDeclareOk = 0x0032_000B
    case queueBind = 0x0032_0014
    case queueBindOk = 0x0032_0015
    case queueDelete = 0x0032_0028
    case queueDeleteOk = 0x0032_0029
    case basicQos = 0x003C_000A
    case basicQosOk = 0x003C_000B
    case basicConsume = 0x003C_0014
    case basicConsumeOk = 0x003C_0015
    case basicCancel = 0x003C_001E
    case basicCancelOk = 0x003C_001F
    case basicReturn = 0x003C_0032
    case basicDeliver = 0x003C_003C
    case basicAck = 0x003C_0050
    case basicNack = 0x003C_0078
    case confirmSelect = 0x0055_000A
    case confirmSelectOk = 0x0055_000B
}
